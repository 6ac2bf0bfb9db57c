//! Wave operations that combine numbers in a way for which no operations on their words stand: loops over the lanes.

use std::collections::HashSet;

use smallvec::SmallVec;

use crate::ir::{
    BinaryOp, Block, Builder, CompareOp, Edge, Function, Inst, Module, Op, ReduceOp, Scalar, Terminator, Type, Value,
    ValueDef, WaveOp,
};

/// Guarantees that no reduction and no prefix operation on these scalar types is left, but for those of integers that
/// [`combines_words`] names.
///
/// Each becomes a loop in which all active lanes read one lane's value after another, so that the lanes that are active
/// stay the same.
pub(super) fn expand(module: &mut Module, scalars: &HashSet<Scalar>) {
    for function in &mut module.functions {
        // What follows an operation that is expanded is in a block that is added: it comes later.
        let mut index = 0;
        while index < function.blocks.len() {
            let block = Block(index as u32);
            let found = function.blocks[index].insts.iter().enumerate().find_map(|(place, &value)| {
                let reduction = Reduction::of(function, value, scalars)?;
                Some((place, value, reduction))
            });
            if let Some((place, value, reduction)) = found {
                reduction.expand(function, block, place, value);
            }
            index += 1;
        }
    }
}

/// The operation on 64-bit integers is lowered to operations on words, without a loop.
pub(super) fn combines_words(op: WaveOp) -> bool {
    use ReduceOp::{And, IAdd, Or, SMax, SMin, UMax, UMin, Xor};
    match op {
        WaveOp::Reduce(reduce) => matches!(reduce, And | Or | Xor | IAdd | SMin | SMax | UMin | UMax),
        WaveOp::Prefix(reduce) => reduce == IAdd,
        WaveOp::MultiPrefix(_) => false,
        _ => true,
    }
}

/// Which lanes take part.
#[derive(Clone, Copy)]
enum Among {
    /// All that are active.
    Active,
    /// Those of them that are below this one.
    Below,
    /// Those of a mask that are below this one.
    Mask(Value),
}

/// One operation.
struct Reduction {
    operand: Value,
    reduce: ReduceOp,
    among: Among,
    inst: Inst,
}

impl Reduction {
    fn of(function: &Function, value: Value, scalars: &HashSet<Scalar>) -> Option<Self> {
        let inst = function.inst(value)?;
        let Op::Wave(op, operands) = &inst.op else { return None };
        let (reduce, among) = match (*op, operands.as_slice()) {
            (WaveOp::Reduce(reduce), _) => (reduce, Among::Active),
            (WaveOp::Prefix(reduce), _) => (reduce, Among::Below),
            (WaveOp::MultiPrefix(reduce), &[_, mask]) => (reduce, Among::Mask(mask)),
            _ => return None,
        };
        let scalar = function.ty(value).scalar()?;
        let by_words = scalar == Scalar::I64 && combines_words(*op);
        let operand = *operands.first()?;
        (!by_words && scalars.contains(&scalar)).then(|| Self { operand, reduce, among, inst: inst.clone() })
    }

    /// Puts the loop in the place of the instruction; what comes after goes to a block of its own, which has the
    /// instruction's value as its parameter.
    fn expand(self, function: &mut Function, block: Block, place: usize, value: Value) {
        let ty = function.ty(value);
        let (header, body, after) = (function.add_block(), function.add_block(), function.add_block());
        let head = &mut function.blocks[block.index()];
        let rest = head.insts.split_off(place + 1);
        head.insts.pop();
        let terminator = std::mem::replace(&mut head.terminator, Terminator::Unreachable);
        let tail = &mut function.blocks[after.index()];
        (tail.insts, tail.terminator) = (rest, terminator);
        tail.params.push(value);
        function.values[value.index()].def = ValueDef::Param(after);

        let neutral = neutral(function, self.reduce, ty);
        let lane = function.add_param(header, Type::I32);
        let sum = function.add_param(header, ty);
        let Inst { precise, origin, .. } = self.inst;
        let mut build = Builder::new(function, block);
        (build.precise, build.origin) = (precise, origin);

        let truth = build.function.constant(Type::BOOL, &[1]);
        let mask = match self.among {
            Among::Mask(mask) => mask,
            _ => wave(&mut build, WaveOp::Ballot, &[truth], Type::Vector(Scalar::I32, 4)),
        };
        let count = wave(&mut build, WaveOp::LaneCount, &[], Type::I32);
        let own = match self.among {
            Among::Active => None,
            _ => Some(wave(&mut build, WaveOp::LaneIndex, &[], Type::I32)),
        };
        let (zero, one, five) = (build.i32(0), build.i32(1), build.i32(5));
        build.jump(header, &[zero, neutral]);

        build.block = header;
        let goes_on = build.compare(CompareOp::ULt, lane, count);
        build.terminate(Terminator::Branch {
            condition: goes_on,
            accept: Edge::new(body),
            reject: Edge { block: after, args: SmallVec::from_slice(&[sum]) },
        });

        build.block = body;
        let other = wave(&mut build, WaveOp::ReadLaneAt, &[self.operand, lane], ty);
        let word = build.binary(BinaryOp::LShr, lane, five);
        let word = build.push(Op::ExtractDynamic(mask, word), Type::I32);
        let bit = build.binary(BinaryOp::LShr, word, lane);
        let bit = build.binary(BinaryOp::And, bit, one);
        let mut counts = build.compare(CompareOp::INe, bit, zero);
        if let Some(own) = own {
            let is_below = build.compare(CompareOp::ULt, lane, own);
            counts = build.binary(BinaryOp::And, counts, is_below);
        }
        let combined = build.binary(combination(self.reduce), sum, other);
        let next_sum = build.select(counts, combined, sum);
        let next_lane = build.binary(BinaryOp::IAdd, lane, one);
        build.jump(header, &[next_lane, next_sum]);
    }
}

fn wave(build: &mut Builder<'_>, op: WaveOp, operands: &[Value], ty: Type) -> Value {
    build.push(Op::Wave(op, SmallVec::from_slice(operands)), ty)
}

fn combination(reduce: ReduceOp) -> BinaryOp {
    match reduce {
        ReduceOp::FAdd => BinaryOp::FAdd,
        ReduceOp::FMul => BinaryOp::FMul,
        ReduceOp::FMin => BinaryOp::FMin,
        ReduceOp::FMax => BinaryOp::FMax,
        ReduceOp::IAdd => BinaryOp::IAdd,
        ReduceOp::IMul => BinaryOp::IMul,
        ReduceOp::SMin => BinaryOp::SMin,
        ReduceOp::SMax => BinaryOp::SMax,
        ReduceOp::UMin => BinaryOp::UMin,
        ReduceOp::UMax => BinaryOp::UMax,
        ReduceOp::And => BinaryOp::And,
        ReduceOp::Or => BinaryOp::Or,
        ReduceOp::Xor => BinaryOp::Xor,
    }
}

/// What changes nothing in a combination of 64-bit numbers.
fn neutral(function: &mut Function, reduce: ReduceOp, ty: Type) -> Value {
    let bits = match reduce {
        ReduceOp::FAdd | ReduceOp::IAdd | ReduceOp::Or | ReduceOp::Xor | ReduceOp::UMax => 0,
        ReduceOp::FMul => 1.0_f64.to_bits(),
        ReduceOp::FMin => f64::INFINITY.to_bits(),
        ReduceOp::FMax => f64::NEG_INFINITY.to_bits(),
        ReduceOp::IMul => 1,
        ReduceOp::SMin => i64::MAX as u64,
        ReduceOp::SMax => i64::MIN as u64,
        ReduceOp::UMin | ReduceOp::And => u64::MAX,
    };
    function.constant(ty, &[bits; 4][..usize::from(ty.lanes())])
}
