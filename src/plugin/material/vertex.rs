//! Vertex inputs: semantics to mesh attributes.

use bevy::{mesh::MeshVertexAttribute, prelude::*, render::render_resource::VertexFormat};

use crate::reflection::{ComponentType, SignatureElement, SystemValue};

/// One register of a vertex shader's input.
#[derive(Clone, Debug, PartialEq)]
pub struct VertexInput {
    /// Semantic and index, as `TEXCOORD0`.
    pub semantic: String,
    /// Register, and location in the lifted module.
    pub location: u32,
    /// Kind of its components.
    pub kind: VertexKind,
    /// Where it comes from; if `None`, it reads 0, or 1 if it is a colour.
    pub attribute: Option<MeshVertexAttribute>,
}

/// Kind of a vertex input's components.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum VertexKind {
    Float,
    Sint,
    Uint,
}

impl VertexInput {
    /// What an input without a mesh attribute reads: a vertex buffer of stride 0 in this format.
    pub(crate) fn default_format(&self) -> VertexFormat {
        match self.kind {
            VertexKind::Float => VertexFormat::Float32x4,
            VertexKind::Sint => VertexFormat::Sint32x4,
            VertexKind::Uint => VertexFormat::Uint32x4,
        }
    }

    /// Whether the default is 1 in all components (colours) or 0.
    pub(crate) fn defaults_to_one(&self) -> bool {
        self.kind == VertexKind::Float && self.semantic.starts_with("COLOR")
    }
}

/// The registers of one element of a vertex shader's input signature, without their attributes.
pub(crate) fn vertex_inputs(element: &SignatureElement) -> impl Iterator<Item = VertexInput> {
    let kind = match element.component {
        ComponentType::I16 | ComponentType::I32 | ComponentType::I64 => VertexKind::Sint,
        ComponentType::Bool | ComponentType::U16 | ComponentType::U32 | ComponentType::U64 => VertexKind::Uint,
        _ => VertexKind::Float,
    };
    let register = element.register.filter(|_| element.system_value == SystemValue::Arbitrary);
    let rows = register.map_or(0, |_| element.rows.clamp(1, 32));
    (0..rows).map(move |row| {
        let first = element.semantic_indices.first().copied().unwrap_or(0);
        let index = element.semantic_indices.get(row as usize).copied().unwrap_or(first.saturating_add(row));
        VertexInput {
            semantic: format!("{}{index}", element.semantic.to_ascii_uppercase()),
            location: register.unwrap_or(0).saturating_add(row),
            kind,
            attribute: None,
        }
    })
}

/// The mesh attribute that a semantic usually means.
pub fn attribute_of_semantic(semantic: &str) -> Option<MeshVertexAttribute> {
    Some(match semantic {
        "POSITION0" | "SV_POSITION0" | "ATTRIBUTE0" => Mesh::ATTRIBUTE_POSITION,
        "NORMAL0" => Mesh::ATTRIBUTE_NORMAL,
        "TANGENT0" => Mesh::ATTRIBUTE_TANGENT,
        "TEXCOORD0" => Mesh::ATTRIBUTE_UV_0,
        "TEXCOORD1" => Mesh::ATTRIBUTE_UV_1,
        "COLOR0" => Mesh::ATTRIBUTE_COLOR,
        "BLENDINDICES0" => Mesh::ATTRIBUTE_JOINT_INDEX,
        "BLENDWEIGHT0" | "BLENDWEIGHTS0" => Mesh::ATTRIBUTE_JOINT_WEIGHT,
        _ => return None,
    })
}

/// The mesh attribute of that name in a material file.
pub fn attribute_named(name: &str) -> Option<MeshVertexAttribute> {
    ATTRIBUTES.iter().find(|(known, _)| *known == name).map(|(_, attribute)| *attribute)
}

/// Mesh attributes by their names in material files.
pub(crate) const ATTRIBUTES: [(&str, MeshVertexAttribute); 8] = [
    ("Position", Mesh::ATTRIBUTE_POSITION),
    ("Normal", Mesh::ATTRIBUTE_NORMAL),
    ("Tangent", Mesh::ATTRIBUTE_TANGENT),
    ("Uv0", Mesh::ATTRIBUTE_UV_0),
    ("Uv1", Mesh::ATTRIBUTE_UV_1),
    ("Color", Mesh::ATTRIBUTE_COLOR),
    ("JointIndex", Mesh::ATTRIBUTE_JOINT_INDEX),
    ("JointWeight", Mesh::ATTRIBUTE_JOINT_WEIGHT),
];
