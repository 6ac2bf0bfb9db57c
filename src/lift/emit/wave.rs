//! Wave and quad operations, and barriers.

use naga::{
    Barrier, BinaryOperator, Block, BuiltIn, CollectiveOperation, Direction, Expression, GatherMode, MathFunction,
    Scalar, ScalarKind, Statement, SubgroupOperation, UnaryOperator, valid::Capabilities,
};

use super::{Emission, FunctionEmitter, discard::discard_demotes, expression::Expr, function::Shape};
use crate::{
    Error, Result,
    ir::{self, Effect, FunctionId, Op, ReduceOp, Type, Value, WaveOp},
    reflection::{EntryPointInterface, Stage},
};

/// What functions want to know of lanes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LaneUse {
    /// The number of the lane.
    pub lane_index: bool,
    /// Derivatives, explicit or of sampling, in a stage without quads of its own.
    pub derivatives: bool,
    /// Discarded lanes go on: something after a discard looks at other lanes.
    pub demotes: bool,
    /// There are several functions.
    pub calls: bool,
}

impl LaneUse {
    /// Of functions that run in a stage.
    pub fn of(module: &ir::Module, functions: &[FunctionId], stage: Stage) -> Self {
        let mut lanes = Self { calls: functions.len() > 1, ..Self::default() };
        for function in functions.iter().filter_map(|id| module.functions.get(id.index())) {
            let insts = function.blocks.iter().flat_map(|block| &block.insts);
            for op in insts.filter_map(|&value| function.op(value)) {
                match op {
                    Op::Wave(
                        WaveOp::IsFirstLane
                        | WaveOp::LaneIndex
                        | WaveOp::MultiPrefix(_)
                        | WaveOp::MultiPrefixCountBits
                        | WaveOp::Prefix(_),
                        _,
                    ) => lanes.lane_index = true,
                    Op::Derivative(..) | Op::Sample(_) | Op::CalculateLod { .. } => {
                        lanes.derivatives |= stage != Stage::Pixel && op.effect() == Effect::Convergent;
                    }
                    _ => {}
                }
            }
        }
        lanes.demotes = stage == Stage::Pixel && discard_demotes(module, functions);
        lanes
    }

    /// A thread group must be declared flat: naga has the lane's number in flat groups only.
    pub fn flattens(self, interface: &EntryPointInterface) -> bool {
        let [_, y, z] = interface.facts.thread_group_size.unwrap_or([1; 3]);
        (self.lane_index || self.derivatives) && (y > 1 || z > 1)
    }
}

impl FunctionEmitter<'_, '_> {
    /// A barrier.
    pub fn barrier(&mut self, barrier: ir::Barrier) {
        let mut flags = Barrier::empty();
        flags.set(Barrier::WORK_GROUP, barrier.group_shared);
        flags.set(Barrier::STORAGE | Barrier::TEXTURE, barrier.uav_group || barrier.uav_global);
        if !matches!(self.stage, Stage::Compute | Stage::Mesh | Stage::Amplification) {
            self.module.note("memory barrier outside of compute shaders: left out, naga has none there");
        } else if barrier.group_sync {
            // naga's barrier with no memory at all is not valid SPIR-V.
            let flags = if flags.is_empty() { Barrier::WORK_GROUP } else { flags };
            self.statement(Statement::ControlBarrier(flags));
        } else if !flags.is_empty() {
            self.statement(Statement::MemoryBarrier(flags));
        }
    }

    /// A wave or quad operation.
    ///
    /// # Errors
    /// Names what has no lowering.
    pub fn wave(&mut self, value: Value, op: WaveOp, operands: &[Value], ty: Type) -> Result<Emission> {
        if !self.module.target.capabilities.contains(Capabilities::SUBGROUP) {
            return Err(Error::unsupported("wave operation on a target without subgroups"));
        }
        let takes_helpers = matches!(
            op,
            WaveOp::LaneIndex
                | WaveOp::LaneCount
                | WaveOp::QuadReadLaneAt
                | WaveOp::QuadReadAcrossX
                | WaveOp::QuadReadAcrossY
                | WaveOp::QuadReadAcrossDiagonal
                | WaveOp::QuadAny
                | WaveOp::QuadAll
        );
        if self.stage != Stage::Pixel || takes_helpers {
            return self.wave_among_active(value, op, operands, ty);
        }
        // Helper lanes take no part; some drivers count them if they get here.
        let helper = self.is_helper_lane()?.expr;
        let active = self.unary(UnaryOperator::LogicalNot, helper);
        let mut result = None;
        let accept = self.nested(|emitter| {
            let emission = emitter.wave_among_active(value, op, operands, ty)?;
            let shape = emitter.shape(ty, emission.kind);
            let naga_type = emitter.module.numeric(shape.scalar, shape.lanes);
            let local = emitter.local(naga_type, None);
            emitter.store(local, emission.expr);
            result = Some((local, shape));
            Ok::<(), Error>(())
        })?;
        let (local, shape) = result.ok_or_else(|| Error::internal("wave operation without a result"))?;
        let zero = self.zero_of(shape);
        self.store(local, zero);
        self.statement(Statement::If { condition: active, accept, reject: Block::new() });
        Ok(Emission { expr: self.load(local), kind: shape.scalar.kind })
    }

    fn wave_among_active(&mut self, value: Value, op: WaveOp, operands: &[Value], ty: Type) -> Result<Emission> {
        let operand = |index: usize| {
            operands.get(index).copied().ok_or_else(|| Error::internal(format!("operands of a wave operation: {op:?}")))
        };
        match op {
            WaveOp::IsFirstLane => {
                let lane = self.builtin(BuiltIn::SubgroupInvocationId)?;
                let shape = Shape { scalar: Scalar::U32, lanes: 1 };
                let first = self.gather_lanes(GatherMode::BroadcastFirst, lane, shape);
                Ok(Emission::bool(self.binary(BinaryOperator::Equal, lane, first)))
            }
            WaveOp::LaneIndex => Ok(Emission::uint(self.builtin(BuiltIn::SubgroupInvocationId)?)),
            WaveOp::LaneCount => Ok(Emission::uint(self.builtin(BuiltIn::SubgroupSize)?)),
            WaveOp::AnyTrue | WaveOp::AllTrue => {
                let a = self.get_as(operand(0)?, ScalarKind::Bool)?;
                let op = if op == WaveOp::AnyTrue { SubgroupOperation::Any } else { SubgroupOperation::All };
                let shape = Shape { scalar: Scalar::BOOL, lanes: 1 };
                Ok(Emission::bool(self.collective(op, CollectiveOperation::Reduce, a, shape)))
            }
            WaveOp::AllEqual => self.wave_all_equal(operand(0)?),
            WaveOp::Ballot => {
                let a = self.get_as(operand(0)?, ScalarKind::Bool)?;
                Ok(Emission::uint(self.ballot(a)))
            }
            WaveOp::ReadLaneAt => {
                let lane = operand(1)?;
                let mode = match self.known_splat(lane) {
                    Some(lane) => GatherMode::Broadcast(self.u32(lane as u32)),
                    None => GatherMode::Shuffle(self.get_as(lane, ScalarKind::Uint)?),
                };
                self.read_lane(mode, operand(0)?)
            }
            WaveOp::ReadLaneFirst => self.read_lane(GatherMode::BroadcastFirst, operand(0)?),
            WaveOp::QuadReadAcrossX => self.read_lane(GatherMode::QuadSwap(Direction::X), operand(0)?),
            WaveOp::QuadReadAcrossY => self.read_lane(GatherMode::QuadSwap(Direction::Y), operand(0)?),
            WaveOp::QuadReadAcrossDiagonal => self.read_lane(GatherMode::QuadSwap(Direction::Diagonal), operand(0)?),
            WaveOp::QuadReadLaneAt => self.quad_read_lane(operand(0)?, operand(1)?),
            WaveOp::QuadAny | WaveOp::QuadAll => {
                let operator = if op == WaveOp::QuadAny { BinaryOperator::InclusiveOr } else { BinaryOperator::And };
                let a = self.get_as(operand(0)?, ScalarKind::Bool)?;
                let shape = Shape { scalar: Scalar::U32, lanes: 1 };
                let mut bit = self.convert(a, Scalar::U32);
                for direction in [Direction::X, Direction::Y] {
                    let other = self.gather_lanes(GatherMode::QuadSwap(direction), bit, shape);
                    bit = self.binary(operator, bit, other);
                }
                let zero = self.u32(0);
                Ok(Emission::bool(self.binary(BinaryOperator::NotEqual, bit, zero)))
            }
            WaveOp::Reduce(reduce) => self.scan(CollectiveOperation::Reduce, reduce, operand(0)?, ty),
            WaveOp::Prefix(reduce @ (ReduceOp::FAdd | ReduceOp::FMul | ReduceOp::IAdd | ReduceOp::IMul)) => {
                self.scan(CollectiveOperation::ExclusiveScan, reduce, operand(0)?, ty)
            }
            WaveOp::Prefix(reduce) => {
                let yes = self.bool(true);
                let active = self.ballot(yes);
                self.multi_prefix(value, reduce, operand(0)?, active, ty)
            }
            WaveOp::CountBits => {
                let a = self.get_as(operand(0)?, ScalarKind::Bool)?;
                let mask = self.ballot(a);
                Ok(Emission::uint(self.count_mask(mask)))
            }
            WaveOp::PrefixCountBits => {
                let a = self.get_as(operand(0)?, ScalarKind::Bool)?;
                let bit = self.convert(a, Scalar::U32);
                let shape = Shape { scalar: Scalar::U32, lanes: 1 };
                let op = SubgroupOperation::Add;
                Ok(Emission::uint(self.collective(op, CollectiveOperation::ExclusiveScan, bit, shape)))
            }
            WaveOp::Match => self.wave_match(operand(0)?),
            WaveOp::MultiPrefix(reduce) => {
                let mask = self.get_as(operand(1)?, ScalarKind::Uint)?;
                self.multi_prefix(value, reduce, operand(0)?, mask, ty)
            }
            WaveOp::MultiPrefixCountBits => {
                let a = self.get_as(operand(0)?, ScalarKind::Bool)?;
                let mask = self.get_as(operand(1)?, ScalarKind::Uint)?;
                let set = self.ballot(a);
                let set = self.binary(BinaryOperator::And, set, mask);
                let below = self.lanes_below()?;
                let set = self.binary(BinaryOperator::And, set, below);
                Ok(Emission::uint(self.count_mask(set)))
            }
        }
    }

    /// The mask of the lanes for which the condition holds.
    fn ballot(&mut self, predicate: Expr) -> Expr {
        let result = self.pre(Expression::SubgroupBallotResult);
        self.statement(Statement::SubgroupBallot { result, predicate: Some(predicate) });
        result
    }

    /// Number of lanes in a mask.
    fn count_mask(&mut self, mask: Expr) -> Expr {
        let counts = self.math(MathFunction::CountOneBits, &[mask]);
        let lanes = self.lanes(counts, 4);
        lanes.into_iter().reduce(|sum, lane| self.binary(BinaryOperator::Add, sum, lane)).unwrap_or(counts)
    }

    /// The mask of the lanes below this one.
    fn lanes_below(&mut self) -> Result<Expr> {
        let lane = self.builtin(BuiltIn::SubgroupInvocationId)?;
        let words: Vec<Expr> = (0..4)
            .map(|word| {
                // In words below the lane's own every bit, in words above none.
                let first = self.i32(word * 32);
                let signed = self.convert(lane, Scalar::I32);
                let place = self.binary(BinaryOperator::Subtract, signed, first);
                let (zero, whole) = (self.i32(0), self.i32(32));
                let place = self.math(MathFunction::Clamp, &[place, zero, whole]);
                let place = self.convert(place, Scalar::U32);
                let (ones, width) = (self.u32(u32::MAX), self.u32(0));
                self.math(MathFunction::ExtractBits, &[ones, width, place])
            })
            .collect();
        Ok(self.vector_of(Scalar::U32, &words))
    }

    fn collective(
        &mut self,
        op: SubgroupOperation,
        collective_op: CollectiveOperation,
        argument: Expr,
        shape: Shape,
    ) -> Expr {
        let ty = self.module.numeric(shape.scalar, shape.lanes);
        let result = self.pre(Expression::SubgroupOperationResult { ty });
        self.statement(Statement::SubgroupCollectiveOperation { op, collective_op, argument, result });
        result
    }

    /// Another lane's value of a number.
    pub fn gather_lanes(&mut self, mode: GatherMode, argument: Expr, shape: Shape) -> Expr {
        let ty = self.module.numeric(shape.scalar, shape.lanes);
        let result = self.pre(Expression::SubgroupOperationResult { ty });
        self.statement(Statement::SubgroupGather { mode, argument, result });
        result
    }

    /// A value as numbers, which other lanes can read: `bool`s are 0 or 1.
    fn readable(&mut self, a: Value) -> Result<(Emission, Shape)> {
        let emission = self.get(a)?;
        let shape = self.shape(self.ir.ty(a), emission.kind);
        if emission.kind != ScalarKind::Bool {
            return Ok((emission, shape));
        }
        Ok((Emission::uint(self.convert(emission.expr, Scalar::U32)), shape.with_scalar(Scalar::U32)))
    }

    /// What [`FunctionEmitter::readable`] made of a value, as its own type again.
    fn read_back(&mut self, a: Value, read: Emission, shape: Shape) -> Emission {
        if self.ir.ty(a).scalar() != Some(ir::Scalar::Bool) {
            return read;
        }
        let zero = self.zero_of(shape);
        Emission::bool(self.binary(BinaryOperator::NotEqual, read.expr, zero))
    }

    fn read_lane(&mut self, mode: GatherMode, a: Value) -> Result<Emission> {
        let (own, shape) = self.readable(a)?;
        let expr = self.gather_lanes(mode, own.expr, shape);
        Ok(self.read_back(a, Emission { expr, ..own }, shape))
    }

    /// The value in one lane of the quad, which may differ from lane to lane.
    fn quad_read_lane(&mut self, a: Value, lane: Value) -> Result<Emission> {
        if let Some(lane) = self.known_splat(lane) {
            let lane = self.u32(lane as u32 & 3);
            return self.read_lane(GatherMode::QuadBroadcast(lane), a);
        }
        let (own, shape) = self.readable(a)?;
        let lane = self.get_as(lane, ScalarKind::Uint)?;
        let mut read = None;
        for number in 0..4 {
            let number = self.u32(number);
            let expr = self.gather_lanes(GatherMode::QuadBroadcast(number), own.expr, shape);
            let is_wanted = self.binary(BinaryOperator::Equal, lane, number);
            read = Some(match read {
                Some(earlier) => self.select(is_wanted, expr, earlier),
                None => expr,
            });
        }
        let expr = read.ok_or_else(|| Error::internal("a quad has four lanes"))?;
        Ok(self.read_back(a, Emission { expr, ..own }, shape))
    }

    /// All active lanes hold the same, lane by lane of the value.
    fn wave_all_equal(&mut self, a: Value) -> Result<Emission> {
        let (own, shape) = self.readable(a)?;
        let first = self.gather_lanes(GatherMode::BroadcastFirst, own.expr, shape);
        let same = self.binary(BinaryOperator::Equal, own.expr, first);
        let single = Shape { scalar: Scalar::BOOL, lanes: 1 };
        let expr = self.lanewise(shape.lanes, Scalar::BOOL, &[same], |emitter, lanes| {
            emitter.collective(SubgroupOperation::All, CollectiveOperation::Reduce, lanes[0], single)
        });
        Ok(Emission::bool(expr))
    }

    fn scan(&mut self, collective: CollectiveOperation, reduce: ReduceOp, a: Value, ty: Type) -> Result<Emission> {
        let natural = self.get(a)?.kind;
        let (op, kind) = match reduce {
            ReduceOp::FAdd | ReduceOp::IAdd => (SubgroupOperation::Add, natural),
            ReduceOp::FMul | ReduceOp::IMul => (SubgroupOperation::Mul, natural),
            ReduceOp::FMin => (SubgroupOperation::Min, natural),
            ReduceOp::FMax => (SubgroupOperation::Max, natural),
            ReduceOp::SMin => (SubgroupOperation::Min, ScalarKind::Sint),
            ReduceOp::SMax => (SubgroupOperation::Max, ScalarKind::Sint),
            ReduceOp::UMin => (SubgroupOperation::Min, ScalarKind::Uint),
            ReduceOp::UMax => (SubgroupOperation::Max, ScalarKind::Uint),
            ReduceOp::And => (SubgroupOperation::And, natural),
            ReduceOp::Or => (SubgroupOperation::Or, natural),
            ReduceOp::Xor => (SubgroupOperation::Xor, natural),
        };
        let argument = self.get_as(a, kind)?;
        let shape = self.shape(ty, kind);
        let expr = self.collective(op, collective, argument, shape);
        Ok(self.rewrapped(Emission { expr, kind }, ty))
    }

    /// The mask of the lanes with the same value: each turn serves the lanes that agree with the first one left.
    fn wave_match(&mut self, a: Value) -> Result<Emission> {
        let (own, shape) = self.readable(a)?;
        // By bits: a NaN must match itself, or the loop would not end.
        let (expr, shape) = match own.kind {
            ScalarKind::Float if shape.scalar.width == 2 => {
                let wide = self.convert(own.expr, Scalar::F32);
                (self.bitcast(wide, ScalarKind::Uint), shape.with_scalar(Scalar::U32))
            }
            ScalarKind::Float => {
                let bits = Scalar { kind: ScalarKind::Uint, ..shape.scalar };
                (self.bitcast(own.expr, ScalarKind::Uint), shape.with_scalar(bits))
            }
            _ => (own.expr, shape),
        };
        let mask_type = self.module.numeric(Scalar::U32, 4);
        let mask = self.local(mask_type, None);
        let body = self.nested(|emitter| {
            let first = emitter.gather_lanes(GatherMode::BroadcastFirst, expr, shape);
            let same = emitter.binary(BinaryOperator::Equal, expr, first);
            let lanes = emitter.lanes(same, shape.lanes);
            let same = lanes.into_iter().reduce(|all, lane| emitter.binary(BinaryOperator::And, all, lane));
            let same = same.ok_or_else(|| Error::internal("value without lanes"))?;
            let matching = emitter.ballot(same);
            emitter.when(same, |emitter| {
                emitter.store(mask, matching);
                emitter.statement(Statement::Break);
            });
            Ok::<(), Error>(())
        })?;
        self.statement(Statement::Loop { body, continuing: Block::new(), break_if: None });
        Ok(Emission::uint(self.load(mask)))
    }

    /// Combines the values of the lanes in a mask that are below this one: reads one lane after another.
    fn multi_prefix(&mut self, value: Value, reduce: ReduceOp, a: Value, mask: Expr, ty: Type) -> Result<Emission> {
        let (op, kind) = combination(reduce);
        let kind = kind.unwrap_or(self.kind_of(value));
        let own = self.get_as(a, kind)?;
        let shape = self.shape(ty, kind);
        let below = self.lanes_below()?;
        let wanted = self.binary(BinaryOperator::And, mask, below);
        let size = self.builtin(BuiltIn::SubgroupSize)?;

        let naga_type = self.module.numeric(shape.scalar, shape.lanes);
        let (index_type, sum) = (self.module.numeric(Scalar::U32, 1), self.local(naga_type, None));
        let index = self.local(index_type, None);
        let neutral = self.neutral(reduce, ty, shape);
        self.store(sum, neutral);
        let start = self.u32(0);
        self.store(index, start);
        let body = self.nested(|emitter| {
            let lane = emitter.load(index);
            let done = emitter.binary(BinaryOperator::GreaterEqual, lane, size);
            emitter.when(done, |emitter| emitter.statement(Statement::Break));
            let other = emitter.gather_lanes(GatherMode::Shuffle(lane), own, shape);
            let (five, low) = (emitter.u32(5), emitter.u32(31));
            let word = emitter.binary(BinaryOperator::ShiftRight, lane, five);
            let last = emitter.u32(3);
            let word = emitter.math(MathFunction::Min, &[word, last]);
            let word = emitter.val(Expression::Access { base: wanted, index: word });
            let place = emitter.binary(BinaryOperator::And, lane, low);
            let one = emitter.u32(1);
            let bit = emitter.binary(BinaryOperator::ShiftRight, word, place);
            let bit = emitter.binary(BinaryOperator::And, bit, one);
            let counts = emitter.binary(BinaryOperator::Equal, bit, one);
            let before = emitter.load(sum);
            let after = match op {
                Combination::Operator(operator) => emitter.binary(operator, before, other),
                Combination::Function(fun) => emitter.math(fun, &[before, other]),
            };
            let after = emitter.rewrapped(Emission { expr: after, kind }, ty).expr;
            let after = emitter.select(counts, after, before);
            emitter.store(sum, after);
            let next = emitter.binary(BinaryOperator::Add, lane, one);
            emitter.store(index, next);
            Ok::<(), Error>(())
        })?;
        self.statement(Statement::Loop { body, continuing: Block::new(), break_if: None });
        Ok(Emission { expr: self.load(sum), kind })
    }

    /// What changes nothing in a combination.
    fn neutral(&mut self, reduce: ReduceOp, ty: Type, shape: Shape) -> Expr {
        let bits = ty.scalar().map_or(32, ir::Scalar::bits);
        let ones = u64::MAX >> (64 - bits);
        let greatest = ones >> 1;
        match reduce {
            ReduceOp::FAdd | ReduceOp::IAdd | ReduceOp::Or | ReduceOp::Xor | ReduceOp::UMax => self.zero_of(shape),
            ReduceOp::FMul => self.splat_float(shape, 1.0),
            ReduceOp::FMin => self.splat_float(shape, f64::INFINITY),
            ReduceOp::FMax => self.splat_float(shape, f64::NEG_INFINITY),
            ReduceOp::IMul => self.splat_literal(shape, 1),
            ReduceOp::SMin => self.splat_literal(shape, greatest),
            ReduceOp::SMax => self.splat_literal(shape, !greatest),
            ReduceOp::UMin => self.splat_literal(shape, ones),
            ReduceOp::And if shape.scalar.kind == ScalarKind::Sint => self.splat_literal(shape, u64::MAX),
            ReduceOp::And => self.splat_literal(shape, ones),
        }
    }
}

/// How two values are combined.
#[derive(Clone, Copy)]
enum Combination {
    Operator(BinaryOperator),
    Function(MathFunction),
}

/// How a reduction combines, and as which kind if that matters.
fn combination(reduce: ReduceOp) -> (Combination, Option<ScalarKind>) {
    use Combination::{Function, Operator};
    match reduce {
        ReduceOp::FAdd | ReduceOp::IAdd => (Operator(BinaryOperator::Add), None),
        ReduceOp::FMul | ReduceOp::IMul => (Operator(BinaryOperator::Multiply), None),
        ReduceOp::FMin => (Function(MathFunction::Min), None),
        ReduceOp::FMax => (Function(MathFunction::Max), None),
        ReduceOp::SMin => (Function(MathFunction::Min), Some(ScalarKind::Sint)),
        ReduceOp::SMax => (Function(MathFunction::Max), Some(ScalarKind::Sint)),
        ReduceOp::UMin => (Function(MathFunction::Min), Some(ScalarKind::Uint)),
        ReduceOp::UMax => (Function(MathFunction::Max), Some(ScalarKind::Uint)),
        ReduceOp::And => (Operator(BinaryOperator::And), None),
        ReduceOp::Or => (Operator(BinaryOperator::InclusiveOr), None),
        ReduceOp::Xor => (Operator(BinaryOperator::ExclusiveOr), None),
    }
}
