//! Fields of constant buffers, texture buffers and the elements of structured buffers.

use super::{line, lines};
use crate::{
    Result,
    reflection::{Binding, Field, FieldShape, FieldType, Interface, ResourceKind},
};

/// Column that the offset of a field stands in.
const OFFSET_COLUMN: usize = 52;

/// Deepest nesting of structures that is written.
const MAX_DEPTH: usize = 32;

/// Buffers whose fields are known.
pub(super) fn buffers(text: &mut String, interface: &Interface) -> Result<()> {
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
    match ty.shape {
        FieldShape::Scalar(of) => of.name().to_owned(),
        FieldShape::Vector(of, len) => format!("{}{len}", of.name()),
        FieldShape::Matrix { scalar: of, rows, columns, row_major } => {
            let order = if row_major { "row_major" } else { "column_major" };
            format!("{order} {}{rows}x{columns}", of.name())
        }
        FieldShape::Struct(_) => "struct".to_owned(),
        FieldShape::Interface => "interface".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_declared_as_in_hlsl() {
        let bytes = include_bytes!("../../../../tests/fixtures/reflection/resources.dxil");
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
}
