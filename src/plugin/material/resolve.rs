//! A material together with its shaders: every binding of both found, filled or named as unbound.

use std::collections::BTreeMap;

use bevy::{prelude::*, render::render_resource::ColorWrites};

use super::{
    DxMaterial, RenderState, SamplerDescription, VertexInput, WriteMaskError, attribute_named, attribute_of_semantic,
    bind_static_samplers, vertex,
};
use crate::{
    ir::BindingId,
    plugin::{
        bind::{BindError, NamedStage, Names, bind_constants, bind_resources, display_name},
        constants::{ConstantBlock, Frequency},
        shader::DxShader,
    },
    reflection::{Binding, ResourceClass, ResourceKind, Stage},
};

/// A material whose names are all found.
#[derive(Clone, Debug)]
pub struct ResolvedMaterial {
    /// The vertex shader and what is bound to it.
    pub vertex: (DxShader, ResolvedBindings),
    /// The pixel shader and what is bound to it.
    pub pixel: (DxShader, ResolvedBindings),
    /// Registers of the vertex shader's input.
    pub inputs: Vec<VertexInput>,
    /// State of the pipeline.
    pub state: RenderState,
    /// Channels of the target that are written.
    pub color_writes: ColorWrites,
    /// What nothing is bound to, by name: it reads 0 (samplers: linear, clamped).
    pub unbound: Vec<String>,
}

/// What is bound to one stage, by the index of the interface's binding. What is absent is unbound.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResolvedBindings {
    /// Contents of all constant buffers.
    pub constants: BTreeMap<BindingId, ConstantBlock>,
    /// Textures.
    pub textures: BTreeMap<BindingId, AssetId<Image>>,
    /// Samplers.
    pub samplers: BTreeMap<BindingId, SamplerDescription>,
}

/// Why a material does not fit its shaders.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// A shader of another stage.
    #[error("its {wanted} shader is a {found:?} shader")]
    Stage {
        /// Where it is named.
        wanted: &'static str,
        /// What it is.
        found: Stage,
    },
    /// A name that no shader has, or a value that does not fit.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// A semantic that the vertex shader does not read.
    #[error("the vertex shader reads no `{name}`: it reads {known}")]
    Semantic {
        /// The semantic.
        name: String,
        /// What it reads.
        known: String,
    },
    /// A mesh attribute that does not exist.
    #[error("there is no mesh attribute `{name}`: there are {known}")]
    Attribute {
        /// The name.
        name: String,
        /// The names there are.
        known: String,
    },
    /// The state contradicts itself.
    #[error(transparent)]
    WriteMask(#[from] WriteMaskError),
}

/// Finds every name of a material in its shaders.
///
/// # Errors
/// Names what the shaders do not have, or what does not fit.
pub fn resolve(material: &DxMaterial, vertex: &DxShader, pixel: &DxShader) -> Result<ResolvedMaterial, ResolveError> {
    for (wanted, stage, shader) in [("vertex", Stage::Vertex, vertex), ("pixel", Stage::Pixel, pixel)] {
        let found = shader.program.stage();
        if found != stage {
            return Err(ResolveError::Stage { wanted, found });
        }
    }
    let stages = [
        NamedStage { prefix: "vs", wired: Frequency::Object, interface: vertex.interface() },
        NamedStage { prefix: "ps", wired: Frequency::Object, interface: pixel.interface() },
    ];
    let constants = bind_constants(&stages, &material.constants, material.vectors)?;
    let ids: BTreeMap<&String, AssetId<Image>> =
        material.textures.iter().map(|(name, handle)| (name, handle.id())).collect();
    let textures = bind_resources(&stages, "texture", is_texture, ids.iter().map(|(name, id)| (*name, id)))?;
    let mut samplers = bind_resources(&stages, "sampler", is_sampler, &material.samplers)?;
    for (stage, samplers) in stages.iter().zip(&mut samplers) {
        bind_static_samplers(stage.interface, samplers);
    }

    let mut unbound = Names(constants.unbound);
    for (index, stage) in stages.iter().enumerate() {
        for (id, binding) in stage.interface.bindings.iter().enumerate() {
            let id = BindingId(id as u32);
            let bound = match binding.kind {
                ResourceKind::ConstantBuffer { .. } => true,
                ResourceKind::Sampler { .. } => samplers[index].contains_key(&id),
                _ => textures[index].contains_key(&id),
            };
            if !bound {
                unbound.add(&display_name(binding));
            }
        }
    }
    let inputs = vertex_inputs(material, vertex, &mut unbound)?;

    let mut bindings = constants
        .blocks
        .into_iter()
        .zip(textures)
        .zip(samplers)
        .map(|((constants, textures), samplers)| ResolvedBindings { constants, textures, samplers });
    let (of_vertex, of_pixel) = (bindings.next().unwrap_or_default(), bindings.next().unwrap_or_default());
    Ok(ResolvedMaterial {
        vertex: (vertex.clone(), of_vertex),
        pixel: (pixel.clone(), of_pixel),
        inputs,
        color_writes: material.state.color_writes()?,
        state: material.state.clone(),
        unbound: unbound.0,
    })
}

/// The vertex shader's inputs with their mesh attributes.
fn vertex_inputs(
    material: &DxMaterial,
    vertex: &DxShader,
    unbound: &mut Names,
) -> Result<Vec<VertexInput>, ResolveError> {
    let elements = vertex.interface().entry_points.iter().take(1).flat_map(|entry| &entry.inputs);
    let used = elements.filter(|element| element.used_mask != 0);
    let mut inputs: Vec<_> = used.flat_map(vertex::vertex_inputs).collect();
    for (semantic, attribute) in &material.vertices {
        let wanted = semantic.to_ascii_uppercase();
        let wanted = if wanted.ends_with(|c: char| c.is_ascii_digit()) { wanted } else { format!("{wanted}0") };
        let attribute = attribute_named(attribute).ok_or_else(|| ResolveError::Attribute {
            name: attribute.clone(),
            known: vertex::ATTRIBUTES.map(|(name, _)| name).join(", "),
        })?;
        match inputs.iter_mut().find(|input| input.semantic == wanted) {
            Some(input) => input.attribute = Some(attribute),
            None => {
                let mut known = Names::default();
                inputs.iter().for_each(|input| known.add(&input.semantic));
                return Err(ResolveError::Semantic { name: semantic.clone(), known: known.to_string() });
            }
        }
    }
    for input in inputs.iter_mut().filter(|input| input.attribute.is_none()) {
        input.attribute = attribute_of_semantic(&input.semantic);
        if input.attribute.is_none() {
            unbound.add(&input.semantic);
        }
    }
    Ok(inputs)
}

fn is_texture(binding: &Binding) -> bool {
    binding.class == ResourceClass::Srv && matches!(binding.kind, ResourceKind::Texture { .. })
}

fn is_sampler(binding: &Binding) -> bool {
    binding.class == ResourceClass::Sampler
}
