//! Threads: ids and other values of the pipeline, barriers, discard.

use smallvec::SmallVec;

use super::Call;
use crate::{
    Error, Result,
    dxil::lower::{FunctionLowering, Lowered},
    ir::{Barrier, Op, Scalar, Type, Value},
    reflection::{DRAW_SPACE, ResourceClass, SystemValue},
};

type Lowering<'m, 'a> = FunctionLowering<'m, 'a>;

/// A value of the pipeline: one number, or the component that the argument names.
pub fn system_value(f: &mut Lowering<'_, '_>, call: &Call<'_>, value: SystemValue) -> Result<Value> {
    let scalar = call.result_scalar(f)?;
    match value {
        SystemValue::DispatchThreadId
        | SystemValue::GroupId
        | SystemValue::GroupThreadId
        | SystemValue::DomainLocation => {
            let component = call.constant(f, 0)?;
            if component > 2 {
                return Err(Error::malformed(format!("no such component: {component}")));
            }
            let mut build = f.build();
            let vector = build.push(Op::SystemValue(value), Type::Vector(scalar, 3));
            Ok(build.extract(vector, component as u8))
        }
        _ => Ok(f.build().push(Op::SystemValue(value), Type::Scalar(scalar))),
    }
}

impl FunctionLowering<'_, '_> {
    /// What the draw was called with, where the program asks for it: its start vertex (0) or instance (1).
    pub fn draw_argument(&mut self, component: u8) -> Option<Value> {
        let binding = self.parent.interface.binding_at(ResourceClass::Cbv, DRAW_SPACE, 0)?;
        let mut build = self.build();
        let zero = build.i32(0);
        let handle = build.push(Op::Handle { binding, index: zero, non_uniform: false }, Type::Handle);
        Some(build.push(Op::LoadConstant { handle, row: zero, offset: component * 4 }, Type::I32))
    }
}

/// Nothing: where the draw begins.
pub fn start_location(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    // StartVertexLocation, StartInstanceLocation.
    let argument = f.draw_argument(if call.number == 256 { 0 } else { 1 });
    argument.map(|value| Some(Lowered::scalar(value))).ok_or_else(|| Error::internal("the interface lacks a draw"))
}

/// `DXIL::BarrierMode`.
pub fn barrier(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let mode = call.constant(f, 0)?;
    let barrier = Barrier {
        group_sync: mode & 1 != 0,
        uav_global: mode & 2 != 0,
        uav_group: mode & 4 != 0,
        group_shared: mode & 8 != 0,
    };
    f.build().effect(Op::Barrier(barrier));
    Ok(None)
}

/// `DXIL::MemoryTypeFlag`, `DXIL::BarrierSemanticFlag`.
pub fn barrier_by_memory_type(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let (memory, semantics) = (call.constant(f, 0)?, call.constant(f, 1)?);
    // Records of nodes are in a buffer too.
    barrier_of(f, memory & 2 != 0, memory & !2 != 0, semantics)
}

/// Resource or records, `DXIL::BarrierSemanticFlag`. Records are in a buffer.
pub fn barrier_by_handle(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let semantics = call.constant(f, 1)?;
    barrier_of(f, false, true, semantics)
}

fn barrier_of(f: &mut Lowering<'_, '_>, group_shared: bool, uav: bool, semantics: u32) -> Result<Option<Lowered>> {
    let device = semantics & 4 != 0;
    let barrier =
        Barrier { group_sync: semantics & 1 != 0, group_shared, uav_group: uav && !device, uav_global: uav && device };
    f.build().effect(Op::Barrier(barrier));
    Ok(None)
}

pub fn discard(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let condition = call.typed(f, 0, Scalar::Bool)?;
    // What was written before the discard was written.
    f.flush_outputs()?;
    f.build().effect(Op::Discard(condition));
    Ok(None)
}

pub fn is_helper_lane(f: &mut Lowering<'_, '_>, _call: &Call<'_>) -> Result<Option<Lowered>> {
    Ok(Some(Lowered::scalar(f.build().push(Op::IsHelperLane, Type::BOOL))))
}

/// Two words of a counter that no portable shader has.
pub fn cycle_counter(f: &mut Lowering<'_, '_>, _call: &Call<'_>) -> Result<Option<Lowered>> {
    f.parent.note("the cycle counter reads 0");
    let zero = f.function.i32(0);
    Ok(Some(Lowered::Scalars(SmallVec::from_slice(&[zero, zero]))))
}
