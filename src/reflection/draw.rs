//! What a vertex shader may ask of its draw: [`DRAW_ARGUMENTS`].

use super::{Binding, BufferLayout, Field, FieldScalar, FieldShape, FieldType, ResourceClass, ResourceKind};

/// Register space of [`DRAW_ARGUMENTS`]: none that HLSL can name in a root signature of Direct3D.
pub const DRAW_SPACE: u32 = 0xfd00;

/// Name of the constant buffer `b0` in [`DRAW_SPACE`]: what the draw was called with, for programs that ask for it
/// (`SV_StartVertexLocation`, `SV_StartInstanceLocation`, Shader Model 6.8). Two `uint`s:
/// * x: `BaseVertexLocation` of an indexed draw, `StartVertexLocation` of another;
/// * y: `StartInstanceLocation`.
pub const DRAW_ARGUMENTS: &str = "DrawArguments";

/// The binding of [`DRAW_ARGUMENTS`].
pub fn draw_binding() -> Binding {
    let field = |(name, offset): (&str, u32)| Field {
        name: name.to_owned(),
        offset,
        size: 4,
        ty: FieldType { shape: FieldShape::Scalar(FieldScalar::U32), elements: None, stride: 0, name: None },
        default_value: None,
        used: None,
    };
    let fields = [("start_vertex", 0), ("start_instance", 4)].into_iter().map(field).collect();
    Binding {
        name: Some(DRAW_ARGUMENTS.to_owned()),
        class: ResourceClass::Cbv,
        space: DRAW_SPACE,
        register: 0,
        count: Some(1),
        kind: ResourceKind::ConstantBuffer { size: 16 },
        layout: Some(BufferLayout { size: 16, fields }),
    }
}
