//! Names to bindings: what a file calls a constant, a texture or a buffer, and where the reflected interfaces have it.

use std::{collections::BTreeMap, fmt};

use super::constants::{
    ConstantBlock, ConstantValue, FieldPath, Frequency, PackError, Packer, PathError, PathStep, VectorConvention,
    known_name, names_of, type_size,
};
use crate::{
    ir::BindingId,
    reflection::{Binding, Field, FieldScalar, FieldShape, FieldType, Interface, ResourceClass, ResourceKind},
};

/// A stage whose bindings are named.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedStage<'a> {
    /// What may stand before a name to mean this stage alone: `vs`, `ps`.
    pub prefix: &'static str,
    /// Of well-known names, those whose values change at most this often are wired.
    pub wired: Frequency,
    /// Its interface.
    pub interface: &'a Interface,
}

/// Why a name or a value does not fit the shaders.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BindError {
    /// What should be a path to a constant is none.
    #[error(transparent)]
    Path(#[from] PathError),
    /// No shader has it.
    #[error("no {kind} `{name}`: the shaders have {known}")]
    Missing {
        /// Constant, texture, ...
        kind: &'static str,
        /// The name.
        name: String,
        /// The names there are.
        known: String,
    },
    /// The path leaves the type.
    #[error("constant `{path}`: {reason}")]
    Field {
        /// The path.
        path: String,
        /// Where it leaves.
        reason: String,
    },
    /// The value does not fit.
    #[error("constant `{path}`: {error}")]
    Value {
        /// The path.
        path: String,
        /// Why.
        error: PackError,
    },
}

/// The constant buffers of some stages, filled.
#[derive(Debug)]
pub(crate) struct BoundConstants {
    /// For each stage, the contents of its buffers.
    pub blocks: Vec<BTreeMap<BindingId, ConstantBlock>>,
    /// Fields that nothing was put into.
    pub unbound: Vec<String>,
}

/// Fills all constant buffers: with what the file says, then by well-known names, then with the HLSL's initial values.
///
/// # Errors
/// A name that no shader has, or a value that does not fit.
pub(crate) fn bind_constants(
    stages: &[NamedStage],
    constants: &BTreeMap<String, ConstantValue>,
    convention: VectorConvention,
) -> Result<BoundConstants, BindError> {
    let mut packers: Vec<BTreeMap<BindingId, Packer>> = Vec::new();
    for stage in stages {
        let mut of_stage = BTreeMap::new();
        for (id, binding, size) in constant_buffers(stage.interface) {
            let mut packer = Packer::new(size, convention);
            if let Some(layout) = &binding.layout {
                packer.set_defaults(layout);
            }
            of_stage.insert(id, packer);
        }
        packers.push(of_stage);
    }

    let mut paths = constants
        .iter()
        .map(|(name, value)| Ok((name.parse()?, name, value)))
        .collect::<Result<Vec<_>, PathError>>()?;
    // A part overrides the whole, and `PerFrame.Time` overrides `Time`, whichever comes first by name.
    paths.sort_by_key(|(path, ..): &(FieldPath, _, _)| path.0.len());
    for (path, name, value) in paths {
        let mut found = false;
        for (stage, packers) in stages.iter().zip(&mut packers) {
            let Some(steps) = steps_for(stage, &path.0) else { continue };
            for (id, binding, size) in constant_buffers(stage.interface) {
                let place = find_field(binding, size, steps, value)
                    .map_err(|reason| BindError::Field { path: name.clone(), reason })?;
                if let (Some((offset, ty)), Some(packer)) = (place, packers.get_mut(&id)) {
                    packer.set(offset, &ty, value).map_err(|error| BindError::Value { path: name.clone(), error })?;
                    found = true;
                }
            }
        }
        if !found {
            let mut known = Names::default();
            for stage in stages {
                for (_, binding, _) in constant_buffers(stage.interface) {
                    match &binding.layout {
                        Some(layout) => layout.fields.iter().for_each(|field| known.add(&field.name)),
                        None => known.add(&format!("cb{} (without names)", binding.register)),
                    }
                }
            }
            return Err(BindError::Missing { kind: "constant", name: name.clone(), known: known.to_string() });
        }
    }

    let mut unbound = Names::default();
    for (stage, packers) in stages.iter().zip(&mut packers) {
        for (id, binding, size) in constant_buffers(stage.interface) {
            let Some(packer) = packers.get_mut(&id) else { continue };
            match &binding.layout {
                Some(layout) => wire_known(packer, &layout.fields, 0, stage.wired, &mut |name| unbound.add(name)),
                None if packer.is_covered(0..size) => {}
                None => unbound.add(&display_name(binding)),
            }
        }
    }
    let blocks =
        packers.into_iter().map(|of_stage| of_stage.into_iter().map(|(id, packer)| (id, packer.finish())).collect());
    Ok(BoundConstants { blocks: blocks.collect(), unbound: unbound.0 })
}

/// Binds values by the names of resources. Gives for each stage what each binding got.
///
/// # Errors
/// A name that no shader has.
pub(crate) fn bind_resources<'v, T: Clone + 'v>(
    stages: &[NamedStage],
    kind: &'static str,
    wanted: impl Fn(&Binding) -> bool,
    values: impl IntoIterator<Item = (&'v String, &'v T)>,
) -> Result<Vec<BTreeMap<BindingId, T>>, BindError> {
    let mut bound = vec![BTreeMap::new(); stages.len()];
    for (name, value) in values {
        let mut found = false;
        for (stage, bound) in stages.iter().zip(&mut bound) {
            let name = match name.split_once('.') {
                Some((prefix, rest)) if stages.iter().any(|stage| stage.prefix == prefix) => {
                    if prefix != stage.prefix {
                        continue;
                    }
                    rest
                }
                _ => name.as_str(),
            };
            for (index, binding) in stage.interface.bindings.iter().enumerate() {
                let named = match &binding.name {
                    Some(known) => known == name || register_name(binding) == name,
                    None => register_name(binding) == name,
                };
                if named && wanted(binding) {
                    bound.insert(BindingId(index as u32), value.clone());
                    found = true;
                }
            }
        }
        if !found {
            let mut known = Names::default();
            for binding in stages.iter().flat_map(|stage| &stage.interface.bindings).filter(|binding| wanted(binding)) {
                known.add(&display_name(binding));
            }
            return Err(BindError::Missing { kind, name: name.clone(), known: known.to_string() });
        }
    }
    Ok(bound)
}

/// Name of a binding for people: the HLSL's, else its register.
pub(crate) fn display_name(binding: &Binding) -> String {
    binding.name.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| register_name(binding))
}

/// Register of a binding, as `t0`; with its space where that is not 0: `t0,space1`.
pub(crate) fn register_name(binding: &Binding) -> String {
    let class = match binding.class {
        ResourceClass::Cbv => "cb",
        ResourceClass::Srv => "t",
        ResourceClass::Uav => "u",
        ResourceClass::Sampler => "s",
    };
    match binding.space {
        0 => format!("{class}{}", binding.register),
        space => format!("{class}{},space{space}", binding.register),
    }
}

/// The constant buffers of an interface, with their sizes in bytes.
pub(crate) fn constant_buffers(interface: &Interface) -> impl Iterator<Item = (BindingId, &Binding, usize)> {
    interface.bindings.iter().enumerate().filter_map(|(index, binding)| match binding.kind {
        // 4,096 rows are Direct3D's limit; a file that claims more gets no more memory for it.
        ResourceKind::ConstantBuffer { size } => {
            Some((BindingId(index as u32), binding, (size.clamp(16, 65536) as usize).next_multiple_of(16)))
        }
        _ => None,
    })
}

/// The steps of a path within a stage: without the stage's prefix; `None` if the path means another stage.
fn steps_for<'p>(stage: &NamedStage, steps: &'p [PathStep]) -> Option<&'p [PathStep]> {
    match steps {
        [PathStep::Name(prefix), rest @ ..]
            if !rest.is_empty() && (prefix == "vs" || prefix == "ps" || prefix == "cs") =>
        {
            (prefix == stage.prefix).then_some(rest)
        }
        steps => Some(steps),
    }
}

/// Offset and type of a field. `Ok(None)` if the buffer has nothing of the path's first name; an error says where the path
/// leaves what it has.
fn find_field(
    binding: &Binding,
    size: usize,
    steps: &[PathStep],
    value: &ConstantValue,
) -> Result<Option<(usize, FieldType)>, String> {
    let (Some(PathStep::Name(first)), rest) = (steps.first(), steps.get(1..).unwrap_or_default()) else {
        return Ok(None);
    };
    let is_buffer = binding.name.as_deref() == Some(first);
    let Some(layout) = &binding.layout else {
        return if *first == register_name(binding) || is_buffer {
            raw_rows(rest, size, value).map(Some)
        } else {
            Ok(None)
        };
    };
    if let Some(field) = layout.fields.iter().find(|field| field.name == *first) {
        return walk(field.offset as usize, &field.ty, rest).map(Some);
    }
    match rest {
        // All of a buffer, by members.
        [] if is_buffer => {
            let shape = FieldShape::Struct(layout.fields.clone());
            Ok(Some((0, FieldType { shape, elements: None, stride: 0, name: Some(first.clone()) })))
        }
        [PathStep::Name(name), rest @ ..] if is_buffer => {
            let known = || format!("constant buffer {first} has no `{name}`: it has {}", names_of(&layout.fields));
            let field = layout.fields.iter().find(|field| field.name == *name).ok_or_else(known)?;
            walk(field.offset as usize, &field.ty, rest).map(Some)
        }
        _ if *first == register_name(binding) => raw_rows(rest, size, value).map(Some),
        _ => Ok(None),
    }
}

/// Follows indices and members from a field.
fn walk(mut offset: usize, ty: &FieldType, steps: &[PathStep]) -> Result<(usize, FieldType), String> {
    let mut ty = ty.clone();
    for step in steps {
        match (step, ty.elements) {
            (PathStep::Index(index), Some(elements)) if *index < elements => {
                offset += *index as usize * ty.stride as usize;
                ty.elements = None;
            }
            (PathStep::Index(index), Some(elements)) => {
                return Err(format!("index {index} is outside its {elements} elements"));
            }
            (PathStep::Index(index), None) => return Err(format!("[{index}] on what is no array")),
            (PathStep::Name(name), Some(_)) => {
                return Err(format!("`{name}` of an array: an index is missing before it"));
            }
            (PathStep::Name(name), None) => match &ty.shape {
                FieldShape::Struct(fields) => {
                    let missing = || format!("no member `{name}`: it has {}", names_of(fields));
                    let field = fields.iter().find(|field| field.name == *name).ok_or_else(missing)?;
                    offset += field.offset as usize;
                    ty = field.ty.clone();
                }
                _ => return Err(format!("`{name}` of what is no structure")),
            },
        }
    }
    Ok((offset, ty))
}

/// Rows of a buffer without names: as many floats as the value has, or a `float4x4` for a matrix.
fn raw_rows(steps: &[PathStep], size: usize, value: &ConstantValue) -> Result<(usize, FieldType), String> {
    let row = match steps {
        [] => 0,
        [PathStep::Index(row)] => *row as usize,
        _ => return Err("a buffer without names has rows, as `cb0[4]`".to_owned()),
    };
    let offset = row.saturating_mul(16);
    if offset >= size {
        return Err(format!("row {row} is outside its {} rows", size / 16));
    }
    let scalar = FieldScalar::F32;
    let (shape, elements, stride) = match value {
        ConstantValue::Engine(super::constants::EngineValue::Matrix(_)) => {
            (FieldShape::Matrix { scalar, rows: 4, columns: 4, row_major: false }, None, 0)
        }
        ConstantValue::Engine(_) => (FieldShape::Vector(scalar, 4), None, 0),
        ConstantValue::List(values) => (FieldShape::Scalar(scalar), Some(values.len() as u32), 4),
        _ => (FieldShape::Scalar(scalar), None, 0),
    };
    Ok((offset, FieldType { shape, elements, stride, name: None }))
}

/// Puts engine values into fields of well-known names that nothing was put into, and names what stays unbound.
fn wire_known(packer: &mut Packer, fields: &[Field], base: usize, wired: Frequency, unbound: &mut dyn FnMut(&str)) {
    for field in fields {
        let start = base + field.offset as usize;
        let range = start..start + type_size(&field.ty);
        if field.used == Some(false) {
            continue;
        }
        if let FieldShape::Struct(members) = &field.ty.shape
            && field.ty.elements.is_none()
        {
            wire_known(packer, members, start, wired, &mut |name| unbound(&format!("{}.{name}", field.name)));
            continue;
        }
        if range.is_empty() || packer.is_covered(range) {
            continue;
        }
        let known = known_name(&field.name).filter(|known| known.value.frequency() <= wired);
        let is_wired = known.is_some_and(|known| {
            let convention = known.convention.unwrap_or(packer.convention());
            packer.set_as(start, &field.ty, &known.value.into(), convention).is_ok()
        });
        if !is_wired && field.default_value.is_none() {
            unbound(&field.name);
        }
    }
}

/// Distinct names, for messages.
#[derive(Debug, Default)]
pub(crate) struct Names(pub Vec<String>);

impl Names {
    pub fn add(&mut self, name: &str) {
        if !self.0.iter().any(|known| known == name) {
            self.0.push(name.to_owned());
        }
    }
}

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [] => f.write_str("none"),
            names => f.write_str(&names.join(", ")),
        }
    }
}
