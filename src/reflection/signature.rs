//! Elements of input, output and patch-constant signatures.

use serde::{Deserialize, Serialize};

use super::interface::ComponentType;

/// One element of a signature: a semantic, and the registers that carry it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignatureElement {
    /// Semantic name as written, without its index: `TEXCOORD`, `SV_Position`.
    pub semantic: String,
    /// Semantic index of each row.
    pub semantic_indices: Vec<u32>,
    /// First register; `None` if it has none (values that bypass registers, such as `SV_Depth` or `SV_PrimitiveID`).
    pub register: Option<u32>,
    /// Number of registers it covers: more than 1 for arrays and matrices.
    pub rows: u32,
    /// Components of each register that belong to the element: bit 0 is x.
    pub mask: u8,
    /// Of `mask`, the components that the shader reads (inputs) or writes (outputs).
    pub used_mask: u8,
    /// Type of a component.
    pub component: ComponentType,
    /// Minimum precision that the HLSL asks for.
    pub min_precision: MinPrecision,
    /// Meaning to the pipeline.
    pub system_value: SystemValue,
    /// How a pixel shader's input is interpolated.
    pub interpolation: Interpolation,
    /// Output stream of a geometry shader.
    pub stream: u8,
}

impl SignatureElement {
    /// First component of the element's registers, 0 to 3.
    pub fn first_component(&self) -> u8 {
        if self.mask == 0 { 0 } else { self.mask.trailing_zeros() as u8 }
    }

    /// Number of components in a row, 1 to 4.
    pub fn components(&self) -> u8 {
        (self.mask.count_ones() as u8).max(1)
    }
}

/// `D3D_MIN_PRECISION`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum MinPrecision {
    #[default]
    Default,
    Float16,
    Float2_8,
    Sint16,
    Uint16,
    Any16,
    Any10,
}

/// `D3D_INTERPOLATION_MODE` and `DXIL::InterpolationMode`, in their numbering.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Interpolation {
    #[default]
    Undefined = 0,
    Constant = 1,
    Linear = 2,
    LinearCentroid = 3,
    LinearNoperspective = 4,
    LinearNoperspectiveCentroid = 5,
    LinearSample = 6,
    LinearNoperspectiveSample = 7,
}

/// Meaning of an element to the pipeline: `D3D_NAME` and `DXIL::SemanticKind` together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum SystemValue {
    /// None: the application gives it its meaning.
    #[default]
    Arbitrary,
    VertexId,
    InstanceId,
    Position,
    RenderTargetArrayIndex,
    ViewportArrayIndex,
    ClipDistance,
    CullDistance,
    OutputControlPointId,
    DomainLocation,
    PrimitiveId,
    GsInstanceId,
    SampleIndex,
    IsFrontFace,
    Coverage,
    InnerCoverage,
    Target,
    Depth,
    DepthLessEqual,
    DepthGreaterEqual,
    StencilRef,
    DispatchThreadId,
    GroupId,
    GroupIndex,
    GroupThreadId,
    TessFactor,
    InsideTessFactor,
    ViewId,
    Barycentrics,
    ShadingRate,
    CullPrimitive,
    StartVertexLocation,
    StartInstanceLocation,
}
