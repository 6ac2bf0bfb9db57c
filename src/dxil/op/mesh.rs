//! Mesh and amplification shaders: counts, indices, payloads. Their outputs are in [`signature`](super::signature).

use smallvec::SmallVec;

use super::Call;
use crate::{
    Error, Result,
    dxil::{
        lower::{FunctionLowering, Lowered},
        module as llvm,
    },
    ir::Op,
    reflection::Stage,
};

type Lowering<'m, 'a> = FunctionLowering<'m, 'a>;

/// `D3D_PRIMITIVE_TOPOLOGY_LINELIST`.
const LINES: u32 = 2;

/// The operation is one of a stage, and stands in its entry point.
fn expect_stage(f: &Lowering<'_, '_>, stage: Stage) -> Result<()> {
    match f.entry()?.stage {
        found if found == stage => Ok(()),
        found => Err(Error::malformed(format!("operation of another stage: {found:?}"))),
    }
}

/// Vertices, primitives.
pub fn set_output_counts(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    expect_stage(f, Stage::Mesh)?;
    let (vertices, primitives) = (call.i32(f, 0)?, call.i32(f, 1)?);
    f.build().effect(Op::SetMeshOutputCounts { vertices, primitives });
    Ok(None)
}

/// Primitive, and three vertices; lines leave the third open.
pub fn emit_indices(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    expect_stage(f, Stage::Mesh)?;
    let primitive = call.i32(f, 0)?;
    let corners = if f.entry()?.facts.primitives.output_topology == Some(LINES) { 2 } else { 3 };
    let indices = (1..=corners).map(|index| call.i32(f, index)).collect::<Result<SmallVec<[_; 4]>>>()?;
    f.build().effect(Op::EmitIndices { primitive, indices });
    Ok(None)
}

/// The payload's address, as the result.
pub fn payload(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    expect_stage(f, Stage::Mesh)?;
    let llvm::Type::Pointer { .. } = f.llvm_type(call.ty)? else {
        return Err(Error::malformed("payload is no address"));
    };
    let pointee = f.parent.module.types.pointee(call.ty).ok_or_else(|| Error::malformed("payload of no type"))?;
    Ok(Some(Lowered::Pointer(f.mesh_payload(pointee)?)))
}

/// Groups on each side, and the payload's address.
pub fn dispatch(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    expect_stage(f, Stage::Amplification)?;
    let groups = [call.i32(f, 0)?, call.i32(f, 1)?, call.i32(f, 2)?];
    let Lowered::Pointer(pointer) = f.value(call.argument(3)?)? else {
        return Err(Error::malformed("payload is no address"));
    };
    let (payload, first, words) = f.sent_payload(pointer)?;
    f.build().effect(Op::DispatchMesh { groups, payload, first, words });
    Ok(None)
}
