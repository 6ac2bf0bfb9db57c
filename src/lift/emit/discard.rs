//! Discarded lanes and helper lanes.
//!
//! Direct3D's `discard` demotes: the lane goes on as a helper, so that its neighbours' derivatives stay right, and has no
//! more effects. naga has only `Kill`, which ends the lane and leaves derivatives after it undefined. So a discard is a
//! plain `Kill` if nothing after it looks at other lanes. Otherwise it clears a `bool`, writes to memory happen where
//! that is set, and the lane is killed where the shader returns.

use naga::{
    AddressSpace, BinaryOperator, BuiltIn, Expression, GlobalVariable, Literal, LocalVariable, Scalar, Span, Statement,
    UnaryOperator,
};

use super::{Emission, FunctionEmitter, wave::LaneUse};
use crate::{
    Error, Result,
    ir::{self, Effect, FunctionId, Op, Value},
    reflection::Stage,
};

/// Something after a discard looks at other lanes, or asks whether the lane is a helper.
pub(super) fn discard_demotes(module: &ir::Module, functions: &[FunctionId]) -> bool {
    let looks = |op: &Op| op.effect() == Effect::Convergent || matches!(op, Op::IsHelperLane);
    let functions = functions.iter().filter_map(|id| module.functions.get(id.index()));
    if functions.clone().count() > 1 {
        // Across calls the order is not followed.
        let any = |test: &dyn Fn(&Op) -> bool| {
            functions.clone().any(|function| {
                let insts = function.blocks.iter().flat_map(|block| &block.insts);
                insts.filter_map(|&value| function.op(value)).any(test)
            })
        };
        return any(&|op| matches!(op, Op::Discard(_))) && any(&looks);
    }
    functions.into_iter().any(|function| {
        let mut reached = vec![false; function.blocks.len()];
        let mut stack = Vec::new();
        for block in &function.blocks {
            let mut discarded = false;
            for op in block.insts.iter().filter_map(|&value| function.op(value)) {
                if discarded && looks(op) {
                    return true;
                }
                discarded |= matches!(op, Op::Discard(_));
            }
            if discarded {
                stack.extend(block.terminator.edges().map(|edge| edge.block));
            }
        }
        while let Some(block) = stack.pop() {
            if std::mem::replace(&mut reached[block.index()], true) {
                continue;
            }
            let data = &function.blocks[block.index()];
            if data.insts.iter().filter_map(|&value| function.op(value)).any(looks) {
                return true;
            }
            stack.extend(data.terminator.edges().map(|edge| edge.block));
        }
        false
    })
}

impl FunctionEmitter<'_, '_> {
    /// Prepares for discarded lanes that go on.
    pub fn prepare_discard(&mut self, lanes: LaneUse) {
        if self.stage != Stage::Pixel || !lanes.demotes {
            return;
        }
        let ty = self.module.numeric(Scalar::BOOL, 1);
        let name = Some("alive".to_owned());
        if !lanes.calls {
            let init = Some(self.bool(true));
            let local = LocalVariable { name, ty, init };
            let local = self.function.local_variables.append(local, Span::UNDEFINED);
            self.alive = Some(self.pre(Expression::LocalVariable(local)));
            return;
        }
        let global = match self.module.alive {
            Some(global) => global,
            None => {
                let expressions = &mut self.module.module.global_expressions;
                let init = Some(expressions.append(Expression::Literal(Literal::Bool(true)), Span::UNDEFINED));
                let global = GlobalVariable {
                    name,
                    space: AddressSpace::Private,
                    binding: None,
                    ty,
                    init,
                    memory_decorations: naga::MemoryDecorations::empty(),
                };
                self.module.module.global_variables.append(global, Span::UNDEFINED)
            }
        };
        self.module.alive = Some(global);
        self.alive = Some(self.pre(Expression::GlobalVariable(global)));
    }

    /// Discards the lane where the condition holds.
    ///
    /// # Errors
    /// The stage has no lanes to discard.
    pub fn discard(&mut self, condition: Value) -> Result<()> {
        if self.stage != Stage::Pixel {
            return Err(Error::unsupported(format!("discard in stage: {:?}", self.stage)));
        }
        let known = self.known_splat(condition);
        if known == Some(0) {
            return Ok(());
        }
        let alive = self.alive;
        let discard = |emitter: &mut Self| match alive {
            Some(alive) => {
                let no = emitter.bool(false);
                emitter.store(alive, no);
            }
            None => emitter.statement(Statement::Kill),
        };
        if known.is_some() {
            discard(self);
        } else {
            let condition = self.get_as(condition, naga::ScalarKind::Bool)?;
            self.when(condition, discard);
        }
        Ok(())
    }

    /// Kills the lane, where the entry point returns, if it was discarded.
    pub fn kill_discarded(&mut self) {
        if let Some(alive) = self.alive {
            let alive = self.load(alive);
            let dead = self.unary(UnaryOperator::LogicalNot, alive);
            self.when(dead, |emitter| emitter.statement(Statement::Kill));
        }
    }

    /// The lane is a helper: it covers no sample, or was discarded.
    ///
    /// # Errors
    /// The function is not the entry point.
    pub fn is_helper_lane(&mut self) -> Result<Emission> {
        if self.stage != Stage::Pixel {
            return Ok(Emission::bool(self.bool(false)));
        }
        // Helper lanes cover nothing.
        let mask = self.builtin(BuiltIn::SampleMask)?;
        let none = self.u32(0);
        let mut helper = self.binary(BinaryOperator::Equal, mask, none);
        if let Some(alive) = self.alive {
            let alive = self.load(alive);
            let dead = self.unary(UnaryOperator::LogicalNot, alive);
            helper = self.binary(BinaryOperator::InclusiveOr, helper, dead);
        }
        Ok(Emission::bool(helper))
    }
}
