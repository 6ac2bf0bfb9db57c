//! Signatures: those of the container's parts, and how the program's elements are interpolated.

use super::{line, lines};
use crate::{
    Result,
    container::{Container, FourCc, Signature, SignatureRecord, SignatureSystemValue},
    dxil::module::{Module, Node},
};

/// A signature part.
pub(super) fn part(text: &mut String, container: &Container<'_>, title: &str, name: FourCc) -> Result<()> {
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

/// How the elements of a program's signatures are interpolated, and which are indexed. Entry points of libraries have
/// none.
pub(super) fn interpolation(text: &mut String, module: &Module) -> Result<()> {
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
