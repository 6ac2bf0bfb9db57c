//! Comments in front of a module: what its container says of it, in the tables of `dxc -dumpbin`.
//!
//! Features, signatures, debug name, hash and resource bindings are line for line those of dxc. Buffers are listed from
//! the [`Interface`], without the structures that dxc wraps them in. dxc's tables of the pipeline's run time and of what
//! depends on the view are not written: `dxshader inspect --part PSV0` has them.

use std::fmt::Write;

use super::names::escape;
use crate::{
    Result,
    container::{
        Container, FourCc, Signature, SignatureRecord, SignatureSystemValue, debug_name, feature_flags, shader_hash,
    },
    dxil::module::{Module, Node},
    reflection::{Binding, Field, FieldScalar, FieldShape, FieldType, Interface, ResourceKind},
};

/// Column that the offset of a field stands in.
const OFFSET_COLUMN: usize = 52;

/// Deepest nesting of structures that is written.
const MAX_DEPTH: usize = 32;

/// The comments. What cannot be read becomes a comment that says so. `resources` is the module that names the resources:
/// the program's twin for reflection, if there is one.
pub fn preamble(
    container: &Container<'_>,
    module: &Module,
    resources: &Module,
    interface: &Result<Interface>,
) -> String {
    let mut text = String::new();
    let signatures = [("Input", FourCc::ISG1), ("Output", FourCc::OSG1), ("Patch Constant", FourCc::PSG1)];
    section(&mut text, |text| features(text, container));
    for (title, name) in signatures {
        section(&mut text, |text| signature(text, container, title, name));
    }
    section(&mut text, |text| {
        if let Some(name) = debug_name(container)? {
            line(text, &format!(" shader debug name: {name}"));
        }
        Ok(())
    });
    section(&mut text, |text| hash(text, container));
    section(&mut text, |text| interpolation(text, module));
    section(&mut text, |text| buffers(text, interface.as_ref().map_err(Clone::clone)?));
    section(&mut text, |text| bindings(text, resources));
    text
}

/// Writes a section, or the error that it ends in.
fn section(text: &mut String, write: impl FnOnce(&mut String) -> Result<()>) {
    if let Err(error) = write(text) {
        line(text, &format!(" {error}"));
    }
}

/// A comment line. Names come from files: what is no text is escaped, so that it does not end the comment.
fn line(text: &mut String, content: &str) {
    text.push(';');
    for character in content.chars() {
        if character.is_control() {
            character.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| escape(text, byte));
        } else {
            text.push(character);
        }
    }
    text.push('\n');
}

fn lines(text: &mut String, contents: &[&str]) {
    contents.iter().for_each(|content| line(text, content));
}

/// What the shader needs of the device.
fn features(text: &mut String, container: &Container<'_>) -> Result<()> {
    let flags = feature_flags(container)?.unwrap_or(0);
    if flags == 0 {
        return Ok(());
    }
    lines(text, &["", " Note: shader requires additional functionality:"]);
    for (_, name) in FEATURES.iter().enumerate().filter(|(bit, _)| flags >> bit & 1 != 0) {
        line(text, &format!("       {name}"));
    }
    line(text, "");
    let optional = flags >> 40;
    if optional != 0 {
        line(text, " Note: shader has optional feature flags set:");
        for (_, name) in OPTIONAL_FEATURES.iter().enumerate().filter(|(bit, _)| optional >> bit & 1 != 0) {
            line(text, &format!("       {name}"));
        }
        line(text, "");
    }
    Ok(())
}

/// A signature part.
fn signature(text: &mut String, container: &Container<'_>, title: &str, name: FourCc) -> Result<()> {
    let Some(part) = container.part(name) else { return Ok(()) };
    let records = Signature::parse(part)?.records().collect::<Result<Vec<_>>>()?;
    lines(
        text,
        &[
            "",
            &format!(" {title} signature:"),
            "",
            " Name                 Index   Mask Register SysValue  Format   Used",
            " -------------------- ----- ------ -------- -------- ------- ------",
        ],
    );
    if records.is_empty() {
        line(text, " no parameters");
        return Ok(());
    }
    let streams = records.iter().any(|record| record.stream != 0);
    for record in &records {
        element(text, record, streams, name == FourCc::ISG1)?;
    }
    line(text, "");
    Ok(())
}

fn element(text: &mut String, record: &SignatureRecord<'_>, streams: bool, input: bool) -> Result<()> {
    let bypasses = record.register == u32::MAX;
    let semantic = match streams {
        true => format!("m{}:{:<17}", record.stream, record.semantic),
        false => format!("{:<20}", record.semantic),
    };
    let register = if bypasses {
        let name = record.semantic.to_ascii_lowercase();
        let name = match name.as_str() {
            "sv_depth" => "   oDepth",
            "sv_depthgreaterequal" => " oDepthGE",
            "sv_depthlessequal" => " oDepthLE",
            "sv_coverage" => "    oMask",
            "sv_stencilref" => "    oStencilRef",
            _ if record.system_value == SignatureSystemValue(7) => "   primID",
            _ => "  special",
        };
        format!("    N/A{name}")
    } else {
        format!("   {} {:>8}", components(record.mask), record.register)
    };
    // Outputs say what is never written.
    let used = if input { record.exclusive_mask } else { !record.exclusive_mask };
    let used = match (bypasses, used) {
        (true, 0) => "     NO".to_owned(),
        (true, _) => "    YES".to_owned(),
        (false, used) => format!("   {}", components(used)),
    };
    let system = SYSTEM_VALUES.iter().find(|(number, _)| *number == record.system_value.0);
    let system = system.map_or("NONE", |(_, name)| name);
    let format = COMPONENTS.get(record.component_type.0 as usize).unwrap_or(&COMPONENTS[0]);
    line(text, &format!(" {semantic} {:>5}{register}{system:>9}{format:>8}{used}", record.semantic_index));
    Ok(())
}

/// `xy  `
fn components(mask: u8) -> String {
    "xyzw".chars().enumerate().map(|(bit, name)| if mask >> bit & 1 != 0 { name } else { ' ' }).collect()
}

fn hash(text: &mut String, container: &Container<'_>) -> Result<()> {
    if let Some(hash) = shader_hash(container)? {
        let digits = hash.digest.iter().fold(String::new(), |mut digits, byte| {
            // Writing to a string does not fail.
            let _ = write!(digits, "{byte:02x}");
            digits
        });
        let source = if hash.includes_source { " (includes source)" } else { "" };
        line(text, &format!(" shader hash: {digits}{source}"));
    }
    Ok(())
}

/// How the elements of a program's signatures are interpolated, and which are indexed. Entry points of libraries have
/// none.
fn interpolation(text: &mut String, module: &Module) -> Result<()> {
    let kind = module.named("dx.shaderModel").next().and_then(|model| model.string(0));
    let titles = match kind {
        Some("lib") => return Ok(()),
        Some("ms") => ["Input", "Vertex Output", "Primitive Output"],
        _ => ["Input", "Output", "Patch Constant"],
    };
    let entry = module.named("dx.entryPoints").next();
    let Some(signatures) = entry.and_then(|entry| entry.node(2)) else { return Ok(()) };
    for (list, title) in titles.into_iter().enumerate() {
        let mut elements = signatures.nodes(list).peekable();
        if elements.peek().is_none() {
            continue;
        }
        lines(
            text,
            &[
                "",
                &format!(" {title} signature:"),
                "",
                " Name                 Index             InterpMode DynIdx",
                " -------------------- ----- ---------------------- ------",
            ],
        );
        for element in elements {
            interpolated(text, &element)?;
        }
    }
    Ok(())
}

/// An element: `[id, name, type, kind, indices, interpolation, rows, columns, row, column, extended]`.
fn interpolated(text: &mut String, element: &Node<'_>) -> Result<()> {
    /// `kDxilSignatureElementDynIdxCompMaskTag`.
    const INDEXED_COMPONENTS: u32 = 2;
    let name = element.string(1).unwrap_or_default();
    let index = element.node(4).filter(|indices| !indices.is_empty()).map_or(Ok(0), |indices| indices.u32(0))?;
    let mode = INTERPOLATIONS.get(element.u32(5)? as usize).unwrap_or(&"invalid");
    let tags = element.node(10);
    let indexed =
        tags.and_then(|tags| tags.tags().find(|(tag, _)| *tag == INDEXED_COMPONENTS).map(|(_, at)| tags.u32(at)));
    let indexed = components(indexed.transpose()?.unwrap_or(0) as u8).replace(' ', "");
    line(text, &format!(" {name:<20} {index:>5} {mode:>22}   {indexed:>4}"));
    Ok(())
}

/// Buffers whose fields are known.
fn buffers(text: &mut String, interface: &Interface) -> Result<()> {
    let title = |binding: &Binding| {
        let name = binding.name.as_deref().unwrap_or_default();
        match binding.kind {
            ResourceKind::ConstantBuffer { .. } => Some(format!(" cbuffer {name}")),
            ResourceKind::TextureBuffer { .. } => Some(format!(" tbuffer {name}")),
            ResourceKind::StructuredBuffer { .. } => Some(format!(" Resource bind info for {name}")),
            _ => None,
        }
    };
    lines(text, &["", " Buffer Definitions:", ""]);
    // Constant buffers come first, as in the table of bindings.
    let is_constant = |binding: &&Binding| matches!(binding.kind, ResourceKind::ConstantBuffer { .. });
    let (constant, others): (Vec<_>, Vec<_>) = interface.bindings.iter().partition(is_constant);
    for binding in constant.into_iter().chain(others) {
        let (Some(title), Some(layout)) = (title(binding), &binding.layout) else { continue };
        lines(text, &[&title, " {"]);
        fields(text, &layout.fields, 0, 1);
        let end = format!(" {:<1$}; Size: {2:>5}", "}", OFFSET_COLUMN - 2, layout.size);
        lines(text, &[&end, ""]);
    }
    Ok(())
}

fn fields(text: &mut String, list: &[Field], base: u32, depth: usize) {
    let indent = 4 * depth;
    for field in list {
        let offset = base.saturating_add(field.offset);
        let array = field.ty.elements.map(|count| format!("[{count}]")).unwrap_or_default();
        let declared = match &field.ty.shape {
            FieldShape::Struct(members) => {
                let name = field.ty.name.as_deref().unwrap_or_default();
                line(text, format!(" {:indent$}struct {name}", "").trim_end());
                line(text, &format!(" {:indent$}{{", ""));
                if depth < MAX_DEPTH {
                    fields(text, members, offset, depth + 1);
                } else {
                    line(text, &format!(" {:indent$}    ...", ""));
                }
                format!("}} {}{array};", field.name)
            }
            _ => format!("{} {}{array};", type_name(&field.ty), field.name),
        };
        let declared = format!(" {:indent$}{declared}", "");
        line(text, &format!("{declared:<0$}; Offset:{offset:>5}", OFFSET_COLUMN - 1));
    }
}

/// A type that is no structure, as HLSL has it.
fn type_name(ty: &FieldType) -> String {
    let scalar = |scalar: FieldScalar| match scalar {
        FieldScalar::Bool => "bool",
        FieldScalar::I16 => "int16_t",
        FieldScalar::U16 => "uint16_t",
        FieldScalar::I32 => "int",
        FieldScalar::U32 => "uint",
        FieldScalar::I64 => "int64_t",
        FieldScalar::U64 => "uint64_t",
        FieldScalar::F16 => "half",
        FieldScalar::F32 => "float",
        FieldScalar::F64 => "double",
        FieldScalar::Unknown => "unknown",
    };
    match ty.shape {
        FieldShape::Scalar(of) => scalar(of).to_owned(),
        FieldShape::Vector(of, len) => format!("{}{len}", scalar(of)),
        FieldShape::Matrix { scalar: of, rows, columns, row_major } => {
            let order = if row_major { "row_major" } else { "column_major" };
            format!("{order} {}{rows}x{columns}", scalar(of))
        }
        FieldShape::Struct(_) => "struct".to_owned(),
        FieldShape::Interface => "interface".to_owned(),
    }
}

/// The table of `dx.resources`.
fn bindings(text: &mut String, module: &Module) -> Result<()> {
    lines(
        text,
        &[
            "",
            " Resource Bindings:",
            "",
            " Name                                 Type  Format         Dim      ID      HLSL Bind  Count",
            " ------------------------------ ---------- ------- ----------- ------- -------------- ------",
        ],
    );
    if let Some(resources) = module.named("dx.resources").next() {
        // Constant buffers, samplers, SRVs, UAVs, by their place in the metadata.
        for (list, class) in [(2, "cbuffer"), (3, "sampler"), (0, "texture"), (1, "UAV")] {
            for node in resources.nodes(list) {
                binding(text, &node, class)?;
            }
        }
    }
    line(text, "");
    Ok(())
}

/// A resource: `[id, variable, name, space, register, count, shape, ...]`.
fn binding(text: &mut String, node: &Node<'_>, class: &str) -> Result<()> {
    const RAW_BUFFER: u32 = 11;
    const STRUCTURED_BUFFER: u32 = 12;
    const TYPED_BUFFER: u32 = 10;
    let name = node.string(2).unwrap_or_default();
    let (id_prefix, register) = match class {
        "cbuffer" => ("CB", "cb"),
        "sampler" => ("S", "s"),
        "texture" => ("T", "t"),
        _ => ("U", "u"),
    };
    let (format, dimension) = if matches!(class, "cbuffer" | "sampler") {
        ("NA", "NA".to_owned())
    } else {
        let uav = class == "UAV";
        let shape = node.u32(6)?;
        let counted = uav && node.integer(8).is_some_and(|counter| counter != 0);
        let access = match (uav, counted) {
            (false, _) => "r/o",
            (true, false) => "r/w",
            (true, true) => "r/w+cnt",
        };
        let dimension = match shape {
            RAW_BUFFER | STRUCTURED_BUFFER => access.to_owned(),
            TYPED_BUFFER => "buf".to_owned(),
            _ => {
                let name = DIMENSIONS.get(shape as usize).unwrap_or(&DIMENSIONS[0]);
                // Multisampled textures say how many samples, where the HLSL does.
                let samples = if uav { None } else { node.integer(7) };
                match samples.filter(|samples| matches!(shape, 3 | 8) && *samples != 0) {
                    Some(samples) => format!("{name}{samples}"),
                    None => (*name).to_owned(),
                }
            }
        };
        let format = match shape {
            RAW_BUFFER => "byte",
            STRUCTURED_BUFFER => "struct",
            _ => element_format(node, if uav { 10 } else { 8 })?,
        };
        (format, dimension)
    };
    let space = node.u32(3)?;
    let mut place = format!("{register}{}", node.u32(4)?);
    if space != 0 {
        place.push_str(&format!(",space{space}"));
    }
    let count = match node.u32(5)? {
        u32::MAX => "unbounded".to_owned(),
        count => count.to_string(),
    };
    let id = format!("{id_prefix}{}", node.u32(0)?);
    line(text, &format!(" {name:<31}{class:>10}{format:>8}{dimension:>12}{id:>8}{place:>15}{count:>6}"));
    Ok(())
}

/// Type of an element, from the tag 0 of the extended properties at a position.
fn element_format(node: &Node<'_>, extended: usize) -> Result<&'static str> {
    let tags = node.node(extended);
    let element = tags.and_then(|tags| tags.tags().find(|(tag, _)| *tag == 0).map(|(_, at)| tags.u32(at)));
    let number = element.transpose()?.unwrap_or(0);
    Ok(FORMATS.get(number as usize).unwrap_or(&FORMATS[0]))
}

/// Names of `DXIL::InterpolationMode`, from 0 on.
const INTERPOLATIONS: [&str; 8] = [
    "",
    "nointerpolation",
    "linear",
    "centroid",
    "noperspective",
    "noperspective centroid",
    "sample",
    "noperspective sample",
];

/// Names of `DXIL::ResourceKind`, from 0 on.
const DIMENSIONS: [&str; 19] = [
    "invalid",
    "1d",
    "2d",
    "2dMS",
    "3d",
    "cube",
    "1darray",
    "2darray",
    "2darrayMS",
    "cubearray",
    "buf",
    "rawbuf",
    "structbuf",
    "cbuffer",
    "sampler",
    "tbuffer",
    "ras",
    "fbtex2d",
    "fbtex2darray",
];

/// Names of `DXIL::ComponentType`, from 0 on.
const FORMATS: [&str; 19] = [
    "invalid",
    "i1",
    "i16",
    "u16",
    "i32",
    "u32",
    "i64",
    "u64",
    "f16",
    "f32",
    "f64",
    "snorm_f16",
    "unorm_f16",
    "snorm_f32",
    "unorm_f32",
    "snorm_f64",
    "unorm_f64",
    "p32i8",
    "p32u8",
];

/// Names of `DxilProgramSigCompType`, from 0 on.
const COMPONENTS: [&str; 10] =
    ["unknown", "uint", "int", "float", "uint16", "int16", "fp16", "uint64", "int64", "double"];

/// Names of `DxilProgramSigSemantic`.
const SYSTEM_VALUES: [(u32, &str); 26] = [
    (1, "POS"),
    (2, "CLIPDST"),
    (3, "CULLDST"),
    (4, "RTINDEX"),
    (5, "VPINDEX"),
    (6, "VERTID"),
    (7, "PRIMID"),
    (8, "INSTID"),
    (9, "FFACE"),
    (10, "SAMPLE"),
    (11, "QUADEDGE"),
    (12, "QUADINT"),
    (13, "TRIEDGE"),
    (14, "TRIINT"),
    (15, "LINEDET"),
    (16, "LINEDEN"),
    (23, "BARYCEN"),
    (24, "SHDINGRATE"),
    (25, "CULLPRIM"),
    (64, "TARGET"),
    (65, "DEPTH"),
    (66, "COVERAGE"),
    (67, "DEPTHGE"),
    (68, "DEPTHLE"),
    (69, "STENCILREF"),
    (70, "INNERCOV"),
];

/// Names of the bits of `SFI0`, as dxc spells them.
const FEATURES: [&str; 33] = [
    "Double-precision floating point",
    "Raw and Structured buffers",
    "UAVs at every shader stage",
    "64 UAV slots",
    "Minimum-precision data types",
    "Double-precision extensions for 11.1",
    "Shader extensions for 11.1",
    "Comparison filtering for feature level 9",
    "Tiled resources",
    "PS Output Stencil Ref",
    "PS Inner Coverage",
    "Typed UAV Load Additional Formats",
    "Raster Ordered UAVs",
    "SV_RenderTargetArrayIndex or SV_ViewportArrayIndex from any shader feeding rasterizer",
    "Wave level operations",
    "64-Bit integer",
    "View Instancing",
    "Barycentrics",
    "Use native low precision",
    "Shading Rate",
    "Raytracing tier 1.1 features",
    "Sampler feedback",
    "64-bit Atomics on Typed Resources",
    "64-bit Atomics on Group Shared",
    "Derivatives in mesh and amplification shaders",
    "Resource descriptor heap indexing",
    "Sampler descriptor heap indexing",
    "Wave Matrix",
    "64-bit Atomics on Heap Resources",
    "Advanced Texture Ops",
    "Writeable MSAA Textures",
    "SampleCmp with gradient or bias",
    "Extended command info",
];

/// Names of those from bit 40 on.
const OPTIONAL_FEATURES: [&str; 2] = ["Function uses derivatives", "Function requires visible group"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_end_a_comment() {
        let mut text = String::new();
        line(&mut text, " shader debug name: a\ndefine void @b");
        assert_eq!(text, "; shader debug name: a\\0Adefine void @b\n");
    }

    #[test]
    fn fields_are_declared_as_in_hlsl() {
        let bytes = include_bytes!("../../../tests/fixtures/reflection/resources.dxil");
        let interface = crate::reflect(bytes).unwrap();
        let mut text = String::new();
        buffers(&mut text, &interface).unwrap();
        let particles = "\
; Resource bind info for particles
; {
;     float3 position;                              ; Offset:    0
;     column_major float2x3 frame;                  ; Offset:   12
;     row_major float3x2 rows;                      ; Offset:   36
;     int weights[3];                               ; Offset:   60
; }                                                 ; Size:    72
";
        assert!(text.contains(particles), "{text}");
    }

    #[test]
    fn what_cannot_be_read_is_a_comment() {
        let container = crate::container::ContainerWriter::new().push(FourCc::HASH, vec![0; 4]).write().unwrap();
        let container = Container::parse(&container).unwrap();
        let interface = Err(crate::Error::malformed("no interface"));
        let text = preamble(&container, &Module::default(), &Module::default(), &interface);
        assert!(text.contains("part HASH"), "{text}");
        assert!(text.contains("no interface"), "{text}");
        assert!(text.lines().all(|line| line.starts_with(';')), "{text}");
    }
}
