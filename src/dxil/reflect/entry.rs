//! Entry points: `dx.entryPoints`.

use super::{ShaderFlags, node, signatures, usage};
use crate::{
    Error, Result,
    dxil::module::{Attribute, AttributeList, FunctionId, Module, Node},
    reflection::{DenormalMode, EntryPointInterface, PrimitiveFacts, Stage, StageFacts},
};

/// Members of an entry point's tuple.
const FUNCTION: usize = 0;
const NAME: usize = 1;
const SIGNATURES: usize = 2;
const PROPERTIES: usize = 4;

/// Tags of an entry point's properties.
mod tag {
    pub const SHADER_FLAGS: u32 = 0;
    pub const GEOMETRY: u32 = 1;
    pub const DOMAIN: u32 = 2;
    pub const HULL: u32 = 3;
    pub const NUM_THREADS: u32 = 4;
    pub const RAY_PAYLOAD_SIZE: u32 = 6;
    pub const RAY_ATTRIBUTE_SIZE: u32 = 7;
    pub const SHADER_KIND: u32 = 8;
    pub const MESH: u32 = 9;
    pub const AMPLIFICATION: u32 = 10;
    pub const WAVE_SIZE: u32 = 11;
    pub const RANGED_WAVE_SIZE: u32 = 23;
}

/// One entry point, as the metadata has it.
#[derive(Clone, Debug)]
pub struct EntryRecord<'a> {
    /// What it runs.
    pub function: FunctionId,
    /// Its name, without the decoration that libraries have.
    pub name: String,
    /// Its stage.
    pub stage: Stage,
    /// Its flags.
    pub flags: ShaderFlags,
    /// A hull shader's function of patch constants.
    pub patch_constant_function: Option<FunctionId>,
    record: Node<'a>,
}

/// The shader flags of an entry point's record.
pub(super) fn flags(record: &Node<'_>) -> ShaderFlags {
    let Some(properties) = record.node(PROPERTIES) else { return ShaderFlags::empty() };
    let bits = properties.tags().find(|(tag, _)| *tag == tag::SHADER_FLAGS);
    let bits = bits.and_then(|(_, at)| properties.integer(at)).unwrap_or(0);
    ShaderFlags::from_bits_retain(bits as u64)
}

/// The name of a function without C++ decoration: `main` of `\01?main@@YAXXZ`.
pub fn undecorated(name: &str) -> &str {
    let Some(decorated) = name.strip_prefix("\u{1}?") else { return name };
    decorated.split('@').next().filter(|name| !name.is_empty()).unwrap_or(name)
}

impl<'a> EntryRecord<'a> {
    /// The entry points of a module for a program of kind `stage`, in the order of the metadata. The record without a
    /// function, which describes a library as a whole, is not among them.
    ///
    /// # Errors
    /// A record is incomplete.
    pub fn all(module: &'a Module, stage: Stage) -> Result<Vec<Self>> {
        let records = module.named("dx.entryPoints").filter(|record| record.has(FUNCTION));
        records.map(|record| Self::read(module, record, stage)).collect()
    }

    fn read(module: &'a Module, record: Node<'a>, stage: Stage) -> Result<Self> {
        let function = record.function(FUNCTION);
        let function = function.ok_or_else(|| Error::malformed("dx.entryPoints: entry point is no function"))?;
        let name = match record.string(NAME) {
            Some(name) if !name.is_empty() => name,
            _ => &module.functions[function.index()].name,
        };
        let properties = record.node(PROPERTIES);
        let property = |wanted: u32| {
            let properties = properties?;
            properties.tags().find(|(tag, _)| *tag == wanted).map(|(_, at)| (properties, at))
        };
        let kind = property(tag::SHADER_KIND).and_then(|(properties, at)| properties.integer(at));
        let kind = kind.and_then(|kind| Stage::from_kind(kind as u16));
        let hull = property(tag::HULL).and_then(|(properties, at)| properties.node(at));
        Ok(Self {
            function,
            name: undecorated(name).to_owned(),
            stage: kind.unwrap_or(stage),
            flags: flags(&record),
            patch_constant_function: hull.and_then(|hull| hull.function(0)),
            record,
        })
    }

    /// What the entry point tells the outside.
    pub(super) fn interface(&self, module: &Module, native_16_bit: bool) -> Result<EntryPointInterface> {
        let signatures = self.record.node(SIGNATURES);
        let read = |index: usize| match signatures {
            Some(signatures) => signatures::read(&signatures, index, native_16_bit),
            None => Ok(Vec::new()),
        };
        let mut entry = EntryPointInterface {
            inputs: read(0)?,
            outputs: read(1)?,
            patch_constants: read(2)?,
            facts: self.facts(module)?,
            ..EntryPointInterface::new(&self.name[..], self.stage)
        };
        if !super::knows_usage(module) {
            usage::mark(module, &mut entry);
        }
        entry.facts.sample_frequency =
            entry.stage == Stage::Pixel && entry.inputs.iter().any(signatures::is_per_sample);
        Ok(entry)
    }

    fn facts(&self, module: &Module) -> Result<StageFacts> {
        let mut facts = StageFacts {
            early_depth_stencil: self.flags.contains(ShaderFlags::FORCE_EARLY_DEPTH_STENCIL),
            ..StageFacts::default()
        };
        facts.denormals = denormals(module, self.function);
        let Some(properties) = self.record.node(PROPERTIES) else { return Ok(facts) };
        if self.stage == Stage::Node {
            facts.node = Some(Box::new(node::facts(&properties, &self.name)?));
        }
        let primitives = &mut facts.primitives;
        for (tag, at) in properties.tags() {
            match tag {
                tag::NUM_THREADS => facts.thread_group_size = three(properties.node(at))?,
                tag::WAVE_SIZE => {
                    if let Some(node) = properties.node(at) {
                        let size = node.u32(0)?;
                        facts.wave_size = Some([size, size, size]);
                    }
                }
                tag::RANGED_WAVE_SIZE => {
                    let sizes = three(properties.node(at))?;
                    facts.wave_size = sizes.map(|[min, max, preferred]| match (max, preferred) {
                        (0, 0) => [min; 3],
                        _ => [min, max, preferred],
                    });
                }
                tag::RAY_PAYLOAD_SIZE => primitives.payload_size = Some(properties.u32(at)?),
                tag::RAY_ATTRIBUTE_SIZE => facts.attribute_size = Some(properties.u32(at)?),
                tag::GEOMETRY => {
                    let state = state(&properties, at)?;
                    primitives.input_primitive = Some(state.u32(0)?);
                    primitives.max_vertex_count = Some(state.u32(1)?);
                    primitives.output_topology = Some(state.u32(3)?);
                    primitives.instance_count = Some(state.u32(4)?);
                }
                tag::DOMAIN => {
                    let state = state(&properties, at)?;
                    primitives.tessellator_domain = Some(state.u32(0)?);
                    primitives.input_control_points = Some(state.u32(1)?);
                }
                tag::HULL => {
                    let state = state(&properties, at)?;
                    *primitives = PrimitiveFacts {
                        input_control_points: Some(state.u32(1)?),
                        output_control_points: Some(state.u32(2)?),
                        tessellator_domain: Some(state.u32(3)?),
                        tessellator_partitioning: Some(state.u32(4)?),
                        tessellator_output: Some(state.u32(5)?),
                        max_tessellation_factor: state.f32(6),
                        ..PrimitiveFacts::default()
                    };
                }
                tag::MESH => {
                    let state = state(&properties, at)?;
                    facts.thread_group_size = three(state.node(0))?;
                    primitives.max_vertex_count = Some(state.u32(1)?);
                    primitives.max_primitive_count = Some(state.u32(2)?);
                    // DXIL::MeshOutputTopology to D3D_PRIMITIVE_TOPOLOGY: line list, triangle list.
                    primitives.output_topology = match state.u32(3)? {
                        1 => Some(2),
                        2 => Some(4),
                        _ => None,
                    };
                    primitives.payload_size = Some(state.u32(4)?);
                }
                tag::AMPLIFICATION => {
                    let state = state(&properties, at)?;
                    facts.thread_group_size = three(state.node(0))?;
                    primitives.payload_size = Some(state.u32(1)?);
                }
                _ => {}
            }
        }
        Ok(facts)
    }
}

/// What a function's attribute `fp32-denorm-mode` says.
fn denormals(module: &Module, function: FunctionId) -> DenormalMode {
    let list = module.functions[function.index()].attributes;
    let list = list.and_then(|list| module.attributes.get(list as usize));
    let attributes = list.map_or(&[] as &[Attribute], |list| list.of(AttributeList::FUNCTION));
    let mode = attributes.iter().find_map(|attribute| match attribute {
        Attribute::Text(name, value) if name == "fp32-denorm-mode" => Some(value.as_str()),
        _ => None,
    });
    match mode {
        Some("preserve") => DenormalMode::Preserve,
        Some("ftz") => DenormalMode::FlushToZero,
        _ => DenormalMode::Any,
    }
}

/// A property that is a tuple.
fn state<'a>(properties: &Node<'a>, at: usize) -> Result<Node<'a>> {
    properties.node(at).ok_or_else(|| Error::malformed("dx.entryPoints: state of the stage is no tuple"))
}

/// Three numbers.
pub(super) fn three(node: Option<Node<'_>>) -> Result<Option<[u32; 3]>> {
    node.map(|node| Ok([node.u32(0)?, node.u32(1)?, node.u32(2)?])).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_waves() {
        macro_rules! wave_size {
            ($name:literal) => {{
                let bytes = include_bytes!(concat!("../../../tests/fixtures/reflection/", $name, ".dxil"));
                crate::reflect(bytes).unwrap().entry_points[0].facts.wave_size
            }};
        }
        // Shader Model 6.8 writes a single size as a range without an end.
        assert_eq!((wave_size!("wave_size"), wave_size!("wave_size_6_8")), (Some([16; 3]), Some([16; 3])));
        assert_eq!(wave_size!("wave_range"), Some([8, 32, 0]));
        assert_eq!(wave_size!("wave_range_preferred"), Some([8, 64, 16]));
        assert_eq!(wave_size!("depth"), None);
    }

    #[test]
    fn names_lose_their_decoration() {
        assert_eq!(undecorated("main"), "main");
        assert_eq!(undecorated("\u{1}?MyRayGen@@YAXXZ"), "MyRayGen");
        assert_eq!(undecorated("\u{1}?@@"), "\u{1}?@@");
    }
}
