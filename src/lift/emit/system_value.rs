//! Values that the pipeline hands over outside the registers.

use naga::{
    BinaryOperator, BuiltIn, DerivativeAxis, DerivativeControl, Expression, RelationalFunction, Scalar, ScalarKind,
};

use super::{Emission, FunctionEmitter, ModuleEmitter, expression::Expr};
use crate::{
    Error, Result, ir,
    reflection::{DRAW_SPACE, EntryPointInterface, ResourceClass, SystemValue},
};

impl FunctionEmitter<'_, '_> {
    /// [`ir::Op::SystemValue`], and inputs that are such values.
    pub(super) fn system_value(
        &mut self,
        interface: &EntryPointInterface,
        system_value: SystemValue,
        ty: ir::Type,
    ) -> Result<Emission> {
        let (value, lanes) = match system_value {
            SystemValue::VertexId => {
                // A program that knows where the draw begins takes it off.
                if !self.module.knows_draw() {
                    self.module.note("SV_VertexID: counts from the draw's base vertex, which Direct3D leaves out");
                }
                (self.builtin(BuiltIn::VertexIndex)?, 1)
            }
            SystemValue::InstanceId => {
                // A program that knows where the draw begins takes it off.
                if !self.module.knows_draw() {
                    self.module.note("SV_InstanceID: counts from the draw's first instance, which Direct3D leaves out");
                }
                (self.builtin(BuiltIn::InstanceIndex)?, 1)
            }
            SystemValue::PrimitiveId => (self.builtin(BuiltIn::PrimitiveIndex)?, 1),
            SystemValue::SampleIndex => (self.builtin(BuiltIn::SampleIndex)?, 1),
            SystemValue::Coverage => (self.builtin(BuiltIn::SampleMask)?, 1),
            SystemValue::InnerCoverage => (self.inner_coverage(interface)?, 1),
            SystemValue::ViewId => (self.builtin(BuiltIn::ViewIndex)?, 1),
            SystemValue::IsFrontFace => {
                let front = self.builtin(BuiltIn::FrontFacing)?;
                let (yes, no) = (self.u32(u32::MAX), self.u32(0));
                (self.select(front, yes, no), 1)
            }
            SystemValue::GroupId => (self.builtin(BuiltIn::WorkGroupId)?, 3),
            SystemValue::GroupIndex => (self.group_index(interface)?, 1),
            SystemValue::GroupThreadId => (self.group_thread_id(interface)?, 3),
            SystemValue::DispatchThreadId => (self.dispatch_thread_id(interface)?, 3),
            // D3D12_SHADING_RATE_1X1, the rate of draws of APIs that have no other.
            SystemValue::ShadingRate => (self.u32(0), 1),
            _ => return Err(Error::unsupported(format!("system value: {system_value:?}"))),
        };
        let value = self.lanes_from(value, lanes, 0, ty.lanes().min(lanes));
        self.value_of_register(value, ScalarKind::Uint, ty)
    }

    /// 1 if the triangle covers the whole pixel, else 0: none of its sides crosses the pixel where no corner of the pixel
    /// is beyond one. What the barycentric of a side is at the corners, its derivatives tell: it is linear on the screen.
    fn inner_coverage(&mut self, interface: &EntryPointInterface) -> Result<Expr> {
        let centre = self.barycentrics(interface, false)?;
        let slope = self.val(Expression::Derivative {
            axis: DerivativeAxis::Width,
            ctrl: DerivativeControl::None,
            expr: centre,
        });
        let half = self.f32(0.5);
        let half = self.splat_to(half, 3);
        let reach = self.binary(BinaryOperator::Multiply, slope, half);
        let within = self.binary(BinaryOperator::GreaterEqual, centre, reach);
        let within = self.val(Expression::Relational { fun: RelationalFunction::All, argument: within });
        let (yes, no) = (self.u32(1), self.u32(0));
        Ok(self.select(within, yes, no))
    }

    /// Thread's number in its group: x first, then y, then z.
    fn group_index(&mut self, interface: &EntryPointInterface) -> Result<Expr> {
        if !self.quads {
            return self.builtin(BuiltIn::LocalInvocationIndex);
        }
        let thread = self.group_thread_id(interface)?;
        let [x, y, z] = [0, 1, 2].map(|lane| self.lane(thread, 3, lane));
        let [width, height, _] = group_size(interface);
        let rows = self.times(z, height);
        let row = self.binary(BinaryOperator::Add, rows, y);
        let first = self.times(row, width);
        Ok(self.binary(BinaryOperator::Add, first, x))
    }

    /// Thread's place in its group.
    fn group_thread_id(&mut self, interface: &EntryPointInterface) -> Result<Expr> {
        if !self.flattened {
            return self.builtin(BuiltIn::LocalInvocationId);
        }
        let index = self.builtin(BuiltIn::LocalInvocationIndex)?;
        let [width, height, _] = group_size(interface);
        // Four lanes after another are two by two threads, where derivatives are taken; a side of odd length has none.
        let quads = self.quads && width.is_multiple_of(2) && height.is_multiple_of(2);
        let (blocks, columns, rows) =
            if quads { (self.shifted_right(index, 2), width / 2, height / 2) } else { (index, width, height) };
        let (columns, rows) = (self.u32(columns), self.u32(rows));
        let mut x = self.binary(BinaryOperator::Modulo, blocks, columns);
        let row = self.binary(BinaryOperator::Divide, blocks, columns);
        let mut y = self.binary(BinaryOperator::Modulo, row, rows);
        let z = self.binary(BinaryOperator::Divide, row, rows);
        if quads {
            let one = self.u32(1);
            let right = self.binary(BinaryOperator::And, index, one);
            let lower = self.shifted_right(index, 1);
            let lower = self.binary(BinaryOperator::And, lower, one);
            let left = self.times(x, 2);
            x = self.binary(BinaryOperator::InclusiveOr, left, right);
            let upper = self.times(y, 2);
            y = self.binary(BinaryOperator::InclusiveOr, upper, lower);
        }
        Ok(self.vector_of(Scalar::U32, &[x, y, z]))
    }

    /// Thread's place in the dispatch.
    fn dispatch_thread_id(&mut self, interface: &EntryPointInterface) -> Result<Expr> {
        if !self.flattened {
            return self.builtin(BuiltIn::GlobalInvocationId);
        }
        let group = self.builtin(BuiltIn::WorkGroupId)?;
        let sides = group_size(interface).map(|side| self.u32(side));
        let size = self.vector_of(Scalar::U32, &sides);
        let first = self.binary(BinaryOperator::Multiply, group, size);
        let thread = self.group_thread_id(interface)?;
        Ok(self.binary(BinaryOperator::Add, first, thread))
    }
}

impl ModuleEmitter<'_> {
    /// The program asks for what its draw was called with.
    fn knows_draw(&self) -> bool {
        self.program.interface.binding_at(ResourceClass::Cbv, DRAW_SPACE, 0).is_some()
    }
}

/// Threads of a group, at least one on each side.
fn group_size(interface: &EntryPointInterface) -> [u32; 3] {
    interface.facts.group_size().map(|side| side.max(1))
}
