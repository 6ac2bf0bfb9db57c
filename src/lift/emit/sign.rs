//! The choice of a sign for every integer of a function: `i32` or `u32`, so that few casts are needed.
//!
//! Integers of the IR have no sign, those of naga do. Operations that look at the sign vote for their operands and
//! results; operations to which it is all one (addition, choices, moves between blocks) tie theirs together; each group
//! of tied values takes the sign of most votes.

use naga::ScalarKind;

use crate::ir::{
    AtomicOp, BinaryOp, BufferAddress, CompareOp, ConvertOp, Function, Op, ReduceOp, Terminator, TernaryOp, UnaryOp,
    Value, ValueDef, WaveOp,
};

/// The kind of each value's scalars.
pub(super) fn choose_kinds(function: &Function) -> Vec<ScalarKind> {
    let mut choice = Choice {
        function,
        parents: (0..function.values.len() as u32).collect(),
        votes: vec![0; function.values.len()],
    };
    for block in &function.blocks {
        for &value in &block.insts {
            if let Some(op) = function.op(value) {
                choice.operation(value, op);
            }
        }
        for edge in block.terminator.edges() {
            let params = &function.blocks[edge.block.index()].params;
            for (&param, &arg) in params.iter().zip(&edge.args) {
                choice.tie(param, arg);
            }
        }
        if let Terminator::Return(Some(value)) = block.terminator {
            choice.unsigned(&[value]);
        }
    }
    for &param in &function.blocks[function.entry.index()].params {
        choice.unsigned(&[param]);
    }
    (0..function.values.len() as u32).map(|index| choice.kind(Value(index))).collect()
}

/// Kind of what functions take and give, so that callers and callees agree.
pub(super) fn signature_kind(ty: crate::ir::Type) -> ScalarKind {
    match ty.scalar() {
        Some(crate::ir::Scalar::Bool) => ScalarKind::Bool,
        Some(scalar) if scalar.is_float() => ScalarKind::Float,
        _ => ScalarKind::Uint,
    }
}

struct Choice<'a> {
    function: &'a Function,
    /// Union-find: a value's representative, or one nearer to it.
    parents: Vec<u32>,
    /// Votes for signed less votes for unsigned, of representatives.
    votes: Vec<i32>,
}

impl Choice<'_> {
    fn find(&mut self, value: u32) -> u32 {
        let mut value = value;
        while self.parents[value as usize] != value {
            let grand = self.parents[self.parents[value as usize] as usize];
            self.parents[value as usize] = grand;
            value = grand;
        }
        value
    }

    /// Constants suit everyone.
    fn takes_part(&self, value: Value) -> bool {
        let data = &self.function.values[value.index()];
        data.ty.scalar().is_some_and(crate::ir::Scalar::is_int) && !matches!(data.def, ValueDef::Constant(_))
    }

    fn tie(&mut self, a: Value, b: Value) {
        if self.takes_part(a) && self.takes_part(b) {
            let (a, b) = (self.find(a.0), self.find(b.0));
            if a != b {
                self.parents[b as usize] = a;
                self.votes[a as usize] += self.votes[b as usize];
            }
        }
    }

    fn vote(&mut self, values: &[Value], vote: i32) {
        for &value in values {
            if self.takes_part(value) {
                let value = self.find(value.0);
                self.votes[value as usize] += vote;
            }
        }
    }

    /// An operation reads or makes signed integers.
    fn signed(&mut self, values: &[Value]) {
        self.vote(values, 2);
    }

    /// An operation reads or makes unsigned integers.
    fn unsigned(&mut self, values: &[Value]) {
        self.vote(values, -2);
    }

    /// Memory holds unsigned integers: arithmetic outvotes it.
    fn in_memory(&mut self, values: &[Value]) {
        self.vote(values, -1);
    }

    fn kind(&mut self, value: Value) -> ScalarKind {
        match self.function.ty(value).scalar() {
            Some(crate::ir::Scalar::Bool) => ScalarKind::Bool,
            Some(scalar) if scalar.is_float() => ScalarKind::Float,
            _ => {
                let value = self.find(value.0);
                if self.votes[value as usize] > 0 { ScalarKind::Sint } else { ScalarKind::Uint }
            }
        }
    }

    fn operation(&mut self, value: Value, op: &Op) {
        match op {
            Op::Unary(op, a) => match op {
                UnaryOp::INeg => {
                    self.tie(value, *a);
                    self.signed(&[value]);
                }
                UnaryOp::Not | UnaryOp::ReverseBits => self.tie(value, *a),
                UnaryOp::FirstBitHigh => {
                    self.unsigned(&[*a]);
                    self.unsigned(&[value]);
                }
                UnaryOp::FirstBitSignedHigh => {
                    self.signed(&[*a]);
                    self.signed(&[value]);
                }
                _ => {}
            },
            Op::Binary(op, a, b) => match op {
                BinaryOp::IAdd | BinaryOp::ISub | BinaryOp::IMul | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => {
                    self.tie(value, *a);
                    self.tie(value, *b);
                }
                BinaryOp::SMulHigh | BinaryOp::SDiv | BinaryOp::SRem | BinaryOp::SMin | BinaryOp::SMax => {
                    self.signed(&[value, *a, *b]);
                }
                BinaryOp::UMulHigh | BinaryOp::UDiv | BinaryOp::URem | BinaryOp::UMin | BinaryOp::UMax => {
                    self.unsigned(&[value, *a, *b]);
                }
                BinaryOp::Shl => {
                    self.tie(value, *a);
                    self.unsigned(&[*b]);
                }
                BinaryOp::LShr => {
                    self.unsigned(&[value, *a, *b]);
                }
                BinaryOp::AShr => {
                    self.signed(&[value, *a]);
                    self.unsigned(&[*b]);
                }
                _ => {}
            },
            Op::Compare(op, a, b) => match op {
                CompareOp::IEq | CompareOp::INe => self.tie(*a, *b),
                CompareOp::SLt | CompareOp::SLe | CompareOp::SGt | CompareOp::SGe => {
                    self.signed(&[*a, *b]);
                }
                CompareOp::ULt | CompareOp::ULe | CompareOp::UGt | CompareOp::UGe => {
                    self.unsigned(&[*a, *b]);
                }
                _ => {}
            },
            Op::Ternary(op, a, b, c) => match op {
                TernaryOp::IMad => [*a, *b, *c].into_iter().for_each(|operand| self.tie(value, operand)),
                TernaryOp::UBitfieldExtract | TernaryOp::Msad => {
                    self.unsigned(&[value, *a, *b, *c]);
                }
                TernaryOp::SBitfieldExtract => {
                    self.signed(&[value, *c]);
                    self.unsigned(&[*a, *b]);
                }
                _ => {}
            },
            Op::BitfieldInsert { width, offset, insert, base } => {
                self.unsigned(&[*width, *offset]);
                self.tie(value, *insert);
                self.tie(value, *base);
            }
            Op::Select { accept, reject, .. } => [*accept, *reject].into_iter().for_each(|arm| self.tie(value, arm)),
            Op::Convert(op, a) => match op {
                ConvertOp::FToS => self.signed(&[value]),
                ConvertOp::FToU | ConvertOp::F32ToF16Bits => self.unsigned(&[value]),
                ConvertOp::SToF => self.signed(&[*a]),
                ConvertOp::UToF | ConvertOp::F16BitsToF32 => self.unsigned(&[*a]),
                ConvertOp::SExt => self.signed(&[value, *a]),
                ConvertOp::ZExt => self.unsigned(&[value, *a]),
                ConvertOp::Trunc => self.tie(value, *a),
                ConvertOp::Bitcast if self.function.ty(value).lanes() != self.function.ty(*a).lanes() => {
                    self.unsigned(&[value, *a]);
                }
                _ => {}
            },
            Op::Extract(a, _) | Op::Swizzle(a, _) | Op::ExtractDynamic(a, _) => self.tie(value, *a),
            Op::Compose(lanes) => lanes.iter().for_each(|&lane| self.tie(value, lane)),
            Op::LoadVariable { index, .. } => {
                self.unsigned(&[*index]);
                self.in_memory(&[value]);
            }
            Op::StoreVariable { index, value: stored, .. } => {
                self.unsigned(&[*index]);
                self.in_memory(&[*stored]);
            }
            Op::AtomicVariable { op, index, value: operand, .. } => {
                self.unsigned(&[*index]);
                self.atomic(value, *op, *operand);
            }
            Op::LoadConstant { row, .. } => {
                self.unsigned(&[*row]);
                self.in_memory(&[value]);
            }
            Op::LoadBuffer { address, .. } => {
                self.address(address);
                self.in_memory(&[value]);
            }
            Op::StoreBuffer { address, value: stored, .. } => {
                self.address(address);
                self.in_memory(&[*stored]);
            }
            Op::AtomicBuffer { op, address, value: operand, .. } => {
                self.address(address);
                self.atomic(value, *op, *operand);
            }
            Op::AtomicTexture { op, value: operand, .. } => self.atomic(value, *op, *operand),
            Op::UpdateCounter { .. } | Op::BufferSize { .. } | Op::TextureSize { .. } => self.unsigned(&[value]),
            Op::Wave(op, operands) => match op {
                WaveOp::Reduce(reduce) | WaveOp::Prefix(reduce) | WaveOp::MultiPrefix(reduce) => {
                    if let Some(&operand) = operands.first() {
                        self.tie(value, operand);
                        match reduce {
                            ReduceOp::SMin | ReduceOp::SMax => self.signed(&[value]),
                            ReduceOp::UMin | ReduceOp::UMax => self.unsigned(&[value]),
                            _ => {}
                        }
                    }
                }
                WaveOp::ReadLaneAt
                | WaveOp::ReadLaneFirst
                | WaveOp::QuadReadLaneAt
                | WaveOp::QuadReadAcrossX
                | WaveOp::QuadReadAcrossY
                | WaveOp::QuadReadAcrossDiagonal => {
                    if let Some(&operand) = operands.first() {
                        self.tie(value, operand);
                    }
                }
                _ => self.unsigned(&[value]),
            },
            Op::Call(_, operands) => {
                self.in_memory(operands);
                self.in_memory(&[value]);
            }
            _ => {}
        }
    }

    fn address(&mut self, address: &BufferAddress) {
        match address {
            BufferAddress::Element(a) | BufferAddress::Byte(a) => self.unsigned(&[*a]),
            BufferAddress::Structured(a, b) => self.unsigned(&[*a, *b]),
        }
    }

    fn atomic(&mut self, result: Value, op: AtomicOp, operand: Value) {
        match op {
            AtomicOp::SMin | AtomicOp::SMax => self.signed(&[result, operand]),
            _ => self.unsigned(&[result, operand]),
        }
    }
}
