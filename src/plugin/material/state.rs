//! State of a material's pipeline, in Direct3D's terms.

use bevy::render::render_resource::{
    BlendComponent, BlendFactor, BlendOperation, BlendState, ColorWrites, CompareFunction, DepthBiasState,
    DepthStencilState, Face, FrontFace, PrimitiveTopology, StencilState, TextureFormat,
};
use serde::{Deserialize, Serialize};

/// State of the pipeline. The default is Direct3D's, but for the winding of front faces, which is that of Bevy's meshes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RenderState {
    /// How the pixel shader's colour meets the target's. Anything but `Opaque` is drawn after all that is opaque, from back
    /// to front.
    pub blend: BlendMode,
    /// Channels that are written: any of `r`, `g`, `b`, `a`.
    pub write_mask: String,
    /// Faces that are left out; `None` draws both.
    pub cull: Option<CullMode>,
    /// Winding of front faces, seen from the front.
    pub front: Winding,
    /// Compares depth; without it everything is drawn.
    pub depth_test: bool,
    /// Writes depth.
    pub depth_write: bool,
    /// When a pixel passes, in Direct3D's depth (0 near, 1 far); Bevy's reversed depth is taken care of.
    pub depth_compare: DepthCompare,
    /// Constant that is added to the depth of each pixel, in Direct3D's sense: positive is farther.
    pub depth_bias: i32,
    /// Added in proportion to the slope.
    pub slope_scaled_depth_bias: f32,
    /// Multisampling takes its mask from alpha.
    pub alpha_to_coverage: bool,
    /// How vertices form primitives; the mesh's own if `None`.
    pub topology: Option<Topology>,
}

impl Default for RenderState {
    fn default() -> Self {
        Self {
            blend: BlendMode::Opaque,
            write_mask: "rgba".to_owned(),
            cull: Some(CullMode::Back),
            front: Winding::CounterClockwise,
            depth_test: true,
            depth_write: true,
            depth_compare: DepthCompare::LessEqual,
            depth_bias: 0,
            slope_scaled_depth_bias: 0.0,
            alpha_to_coverage: false,
            topology: None,
        }
    }
}

/// How colours are blended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum BlendMode {
    /// The shader's colour replaces the target's.
    #[default]
    Opaque,
    /// `source * source.a + target * (1 - source.a)`.
    Alpha,
    /// `source + target * (1 - source.a)`.
    Premultiplied,
    /// `source * source.a + target`.
    Add,
    /// `source * target`.
    Multiply,
    /// Anything else: colour and alpha, each `source * factor (operation) target * factor`.
    Custom {
        /// Of the colour channels.
        color: Blend,
        /// Of alpha.
        alpha: Blend,
    },
}

/// One equation of blending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Blend {
    /// Of the shader's colour, by wgpu's name: `One`, `SrcAlpha`, `OneMinusDst`, ...
    pub source: BlendFactorName,
    /// Of the target's colour.
    pub target: BlendFactorName,
    /// How they meet.
    #[serde(default)]
    pub operation: BlendOperationName,
}

/// `D3D11_BLEND`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum BlendFactorName {
    Zero,
    One,
    SrcColor,
    InvSrcColor,
    SrcAlpha,
    InvSrcAlpha,
    DestColor,
    InvDestColor,
    DestAlpha,
    InvDestAlpha,
    SrcAlphaSaturate,
}

/// `D3D11_BLEND_OP`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum BlendOperationName {
    #[default]
    Add,
    Subtract,
    RevSubtract,
    Min,
    Max,
}

/// `D3D11_CULL_MODE`; none is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum CullMode {
    Front,
    Back,
}

/// Order of a face's vertices, seen from its front.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Winding {
    Clockwise,
    CounterClockwise,
}

/// `D3D11_COMPARISON_FUNC` of the new depth with the old.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum DepthCompare {
    Never,
    Less,
    Equal,
    LessEqual,
    Greater,
    NotEqual,
    GreaterEqual,
    Always,
}

/// `D3D11_PRIMITIVE_TOPOLOGY`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Topology {
    PointList,
    LineList,
    LineStrip,
    TriangleList,
    TriangleStrip,
}

/// A channel mask that names something else.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the write mask \"{0}\" names more than the channels r, g, b and a")]
pub struct WriteMaskError(pub String);

impl RenderState {
    /// Blending for wgpu.
    pub(crate) fn blend_state(&self) -> Option<BlendState> {
        use BlendFactorName::{DestColor, InvSrcAlpha, One, SrcAlpha, Zero};
        let blend = |source, target| Blend { source, target, operation: BlendOperationName::Add };
        let (color, alpha) = match self.blend {
            BlendMode::Opaque => return None,
            BlendMode::Alpha => (blend(SrcAlpha, InvSrcAlpha), blend(One, InvSrcAlpha)),
            BlendMode::Premultiplied => (blend(One, InvSrcAlpha), blend(One, InvSrcAlpha)),
            BlendMode::Add => (blend(SrcAlpha, One), blend(Zero, One)),
            BlendMode::Multiply => (blend(DestColor, Zero), blend(Zero, One)),
            BlendMode::Custom { color, alpha } => (color, alpha),
        };
        Some(BlendState { color: color.component(), alpha: alpha.component() })
    }

    /// It is drawn with the transparent objects.
    pub fn is_transparent(&self) -> bool {
        self.blend != BlendMode::Opaque
    }

    /// Channels for wgpu.
    ///
    /// # Errors
    /// The mask names something else.
    pub(crate) fn color_writes(&self) -> Result<ColorWrites, WriteMaskError> {
        self.write_mask.chars().try_fold(ColorWrites::empty(), |writes, channel| {
            Ok(writes
                | match channel {
                    'r' => ColorWrites::RED,
                    'g' => ColorWrites::GREEN,
                    'b' => ColorWrites::BLUE,
                    'a' => ColorWrites::ALPHA,
                    _ => return Err(WriteMaskError(self.write_mask.clone())),
                })
        })
    }

    /// Faces to leave out, for wgpu; `inverted` for views that mirror the world.
    pub(crate) fn cull_face(&self, inverted: bool) -> Option<Face> {
        self.cull.map(|cull| match (cull, inverted) {
            (CullMode::Front, false) | (CullMode::Back, true) => Face::Front,
            (CullMode::Back, false) | (CullMode::Front, true) => Face::Back,
        })
    }

    /// Winding for wgpu.
    pub(crate) fn front_face(&self) -> FrontFace {
        match self.front {
            Winding::Clockwise => FrontFace::Cw,
            Winding::CounterClockwise => FrontFace::Ccw,
        }
    }

    /// Topology for wgpu, where the material sets it.
    pub(crate) fn primitive_topology(&self) -> Option<PrimitiveTopology> {
        self.topology.map(|topology| match topology {
            Topology::PointList => PrimitiveTopology::PointList,
            Topology::LineList => PrimitiveTopology::LineList,
            Topology::LineStrip => PrimitiveTopology::LineStrip,
            Topology::TriangleList => PrimitiveTopology::TriangleList,
            Topology::TriangleStrip => PrimitiveTopology::TriangleStrip,
        })
    }

    /// Depth for wgpu, in a target whose depth is reversed: nearer is greater.
    pub(crate) fn depth_stencil(&self, format: TextureFormat) -> DepthStencilState {
        let depth_compare = match self.depth_compare {
            _ if !self.depth_test => CompareFunction::Always,
            DepthCompare::Never => CompareFunction::Never,
            DepthCompare::Less => CompareFunction::Greater,
            DepthCompare::Equal => CompareFunction::Equal,
            DepthCompare::LessEqual => CompareFunction::GreaterEqual,
            DepthCompare::Greater => CompareFunction::Less,
            DepthCompare::NotEqual => CompareFunction::NotEqual,
            DepthCompare::GreaterEqual => CompareFunction::LessEqual,
            DepthCompare::Always => CompareFunction::Always,
        };
        DepthStencilState {
            format,
            // As in Direct3D, depth is written only where it is tested.
            depth_write_enabled: Some(self.depth_test && self.depth_write),
            depth_compare: Some(depth_compare),
            stencil: StencilState::default(),
            bias: DepthBiasState {
                constant: self.depth_bias.saturating_neg(),
                slope_scale: -self.slope_scaled_depth_bias,
                clamp: 0.0,
            },
        }
    }
}

impl Blend {
    fn component(self) -> BlendComponent {
        BlendComponent {
            src_factor: self.source.factor(),
            dst_factor: self.target.factor(),
            operation: match self.operation {
                BlendOperationName::Add => BlendOperation::Add,
                BlendOperationName::Subtract => BlendOperation::Subtract,
                BlendOperationName::RevSubtract => BlendOperation::ReverseSubtract,
                BlendOperationName::Min => BlendOperation::Min,
                BlendOperationName::Max => BlendOperation::Max,
            },
        }
    }
}

impl BlendFactorName {
    fn factor(self) -> BlendFactor {
        match self {
            Self::Zero => BlendFactor::Zero,
            Self::One => BlendFactor::One,
            Self::SrcColor => BlendFactor::Src,
            Self::InvSrcColor => BlendFactor::OneMinusSrc,
            Self::SrcAlpha => BlendFactor::SrcAlpha,
            Self::InvSrcAlpha => BlendFactor::OneMinusSrcAlpha,
            Self::DestColor => BlendFactor::Dst,
            Self::InvDestColor => BlendFactor::OneMinusDst,
            Self::DestAlpha => BlendFactor::DstAlpha,
            Self::InvDestAlpha => BlendFactor::OneMinusDstAlpha,
            Self::SrcAlphaSaturate => BlendFactor::SrcAlphaSaturated,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_reversed() {
        let state = RenderState { depth_bias: 3, ..Default::default() };
        let depth = state.depth_stencil(TextureFormat::Depth32Float);
        assert_eq!(depth.depth_compare, Some(CompareFunction::GreaterEqual));
        assert_eq!(depth.bias.constant, -3);
        let state = RenderState { depth_test: false, ..Default::default() };
        let depth = state.depth_stencil(TextureFormat::Depth32Float);
        assert_eq!((depth.depth_compare, depth.depth_write_enabled), (Some(CompareFunction::Always), Some(false)));
    }

    #[test]
    fn masks_name_channels() {
        let mask = |mask: &str| RenderState { write_mask: mask.into(), ..Default::default() }.color_writes();
        assert_eq!(mask("rgba"), Ok(ColorWrites::ALL));
        assert_eq!(mask("ga"), Ok(ColorWrites::GREEN | ColorWrites::ALPHA));
        assert_eq!(mask(""), Ok(ColorWrites::empty()));
        assert_eq!(mask("rgx"), Err(WriteMaskError("rgx".into())));
    }
}
