//! The table of resources.

use super::{line, lines};
use crate::{
    Result,
    dxil::module::{Module, Node},
};

/// The table of `dx.resources`.
pub(super) fn bindings(text: &mut String, module: &Module) -> Result<()> {
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
                    Some(samples) => format!("{name}{}", samples as u32),
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
