//! Function libraries of Shader Model 4 and 5 (`lib_4_0`, `lib_5_0`), and their functions.

use super::bindings;
use crate::{
    Error, Result,
    container::{
        Container, FeatureFlags, FourCc, FunctionParameter, FunctionParameters, ParameterFlags, ProgramVersion,
        ResourceDefinitions, TokenProgram, feature_flags,
    },
    dxbc,
    reflection::{
        ComponentType, EntryPointInterface, Format, Interface, Interpolation, MinPrecision, ShaderModel,
        SignatureElement, Stage, SystemValue,
    },
};

/// Functions of a library, at most: each is a container of its own.
const MAX_FUNCTIONS: usize = 1 << 10;

/// What the functions of a library tell, or the one that a container is; `None` if it is neither.
///
/// Each function is an entry point, of [`Stage::Library`]: its parameters are elements of the signatures, by the registers in which
/// they travel. Functions name their resources by registers of their own: where there are several, those of each are in a space by
/// its number.
pub(in crate::reflection) fn read(container: &Container<'_>) -> Result<Option<Interface>> {
    if let Some(interface) = function(container)? {
        return Ok(Some(interface));
    }
    let parts: Vec<_> = container.parts().filter(|part| part.name == FourCc::LIBF).collect();
    if parts.len() > MAX_FUNCTIONS {
        return Err(Error::malformed(format!("functions of a library: {}", parts.len())));
    }
    // Parts may lie on each other; functions do not, or a small file could hold any number of large ones.
    if parts.iter().map(|part| part.data.len()).sum::<usize>() > container.bytes().len() {
        return Err(Error::malformed("functions of a library lie on each other"));
    }
    let mut library: Option<Interface> = None;
    let several = parts.len() > 1;
    for (number, part) in (0..).zip(parts) {
        let found = Container::parse(part.data).and_then(|inner| function(&inner));
        let found = found.map_err(|error| error.in_part(part.name))?;
        let Some(mut interface) = found else {
            return Err(Error::malformed("a function of a library without tokens").in_part(part.name));
        };
        if several {
            interface.bindings.iter_mut().for_each(|binding| binding.space = number);
        }
        match &mut library {
            None => library = Some(interface),
            Some(library) => {
                library.entry_points.append(&mut interface.entry_points);
                library.bindings.append(&mut interface.bindings);
                library.feature_flags.0 |= interface.feature_flags.0;
            }
        }
    }
    Ok(library)
}

/// What a function tells; `None` if the container is none.
fn function(container: &Container<'_>) -> Result<Option<Interface>> {
    let Some(part) = container.first_part(&[FourCc::SHEX, FourCc::SHDR]) else { return Ok(None) };
    let version = TokenProgram::parse(part)?.version;
    if version.kind != ProgramVersion::LIBRARY_FUNCTION {
        return Ok(None);
    }
    let mut entry = EntryPointInterface::new("main", Stage::Library);
    if let Some(part) = container.part(FourCc::LFS0) {
        let parameters = FunctionParameters::parse(part)?.parameters;
        if let Some(result) = parameters.first() {
            entry.name = result.name.to_string();
        }
        for parameter in &parameters {
            let element = |register| element(parameter, register);
            if parameter.flags.contains(ParameterFlags::IN) {
                entry.inputs.extend(parameter.input.and_then(element));
            }
            if parameter.flags.contains(ParameterFlags::OUT) {
                entry.outputs.extend(parameter.output.and_then(element));
            }
        }
    }
    let bindings = match container.part(FourCc::RDEF) {
        Some(part) if !part.data.is_empty() => bindings::read(&ResourceDefinitions::parse(part)?, false)?,
        _ => Vec::new(),
    };
    let shader_model = ShaderModel { major: version.major, minor: version.minor };
    let mut interface = Interface {
        entry_points: vec![entry],
        bindings,
        feature_flags: FeatureFlags(feature_flags(container)?.unwrap_or(0)),
        ..Interface::new(Format::Dxbc, shader_model, Stage::Library)
    };
    dxbc::declare(container, &mut interface)?;
    Ok(Some(interface))
}

/// A parameter as an element of a signature, from its first register and component. Nothing of one without components.
fn element(parameter: &FunctionParameter<'_>, (register, component): (u32, u32)) -> Option<SignatureElement> {
    // D3D_SVC_MATRIX_COLUMNS: a register holds a column.
    const MATRIX_COLUMNS: u32 = 3;
    let (rows, components) = match parameter.class {
        MATRIX_COLUMNS => (parameter.columns, parameter.rows),
        _ => (parameter.rows, parameter.columns),
    };
    if !(1..=4).contains(&components) || !(1..=4).contains(&rows) || component > 3 {
        return None;
    }
    let mask = ((1u8 << components) - 1) << component & 0xf;
    // D3D_SHADER_VARIABLE_TYPE
    let component = match parameter.ty {
        1 => ComponentType::Bool,
        2 => ComponentType::I32,
        3 => ComponentType::F32,
        19 => ComponentType::U32,
        _ => ComponentType::Unknown,
    };
    Some(SignatureElement {
        semantic: parameter.name.to_string(),
        semantic_indices: (0..rows).collect(),
        register: Some(register),
        rows,
        mask,
        used_mask: mask,
        component,
        min_precision: MinPrecision::Default,
        system_value: SystemValue::Arbitrary,
        interpolation: Interpolation::Undefined,
        stream: 0,
    })
}
