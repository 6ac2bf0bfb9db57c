//! 64-bit integers as pairs of words.
//!
//! A value of n lanes of 64 bits becomes two of n lanes of 32 bits: the low words and the high words. Parameters of blocks
//! and functions, arguments and variables are doubled; a function that gives an integer gives a vector of the words of
//! its lanes, the low one of each first. In memory they lie as they did.

mod arithmetic;
mod compare;
mod convert;
mod memory;
mod shift;
mod wave;

use std::collections::HashMap;

use smallvec::SmallVec;

use super::{
    lanes::combines_words,
    library::Library,
    rewrite::{Rewrite, refuse, rewrite},
    simplify_blocks,
};
use crate::{
    Error, Result,
    ir::{
        Block, Builder, CompareOp, Edge, Function, Module, Op, Scalar, Terminator, Type, Value, ValueDef, VariableId,
    },
};

/// Guarantees that nothing is an `i64`.
///
/// # Errors
/// Names what has no lowering: atomic operations, elements of textures and typed buffers, functions that give more than
/// two integers.
pub(super) fn lower(module: &mut Module, library: &mut Library) -> Result<()> {
    let variables = split_variables(module);
    rewrite(
        module,
        library,
        |function| Pairs { of: split_params(function), variables: &variables },
        |rewrite, pairs, value, op| Lowering { rewrite, pairs }.instruction(value, op),
        |rewrite, pairs| Lowering { rewrite, pairs }.terminators(),
    )
}

/// Low and high words, of as many lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pair {
    low: Value,
    high: Value,
}

/// What stands for a function's 64-bit integers.
struct Pairs<'a> {
    of: HashMap<Value, Pair>,
    /// The variables of the high words, by those of the low words.
    variables: &'a HashMap<VariableId, VariableId>,
}

/// Halves every variable of 64-bit integers: it keeps the low words, another gets the high words.
fn split_variables(module: &mut Module) -> HashMap<VariableId, VariableId> {
    let mut split = HashMap::new();
    for index in 0..module.variables.len() {
        let low = &mut module.variables[index];
        if low.element.scalar() != Some(Scalar::I64) {
            continue;
        }
        low.element = low.element.with_scalar(Scalar::I32);
        let mut high = low.clone();
        low.name.push_str("_low");
        high.name.push_str("_high");
        for (low, high) in lanes(&mut low.initial).zip(lanes(&mut high.initial)) {
            *low &= u64::from(u32::MAX);
            *high >>= 32;
        }
        split.insert(VariableId(index as u32), VariableId(module.variables.len() as u32));
        module.variables.push(high);
    }
    split
}

fn lanes(initial: &mut Option<Vec<crate::ir::Constant>>) -> impl Iterator<Item = &mut u64> {
    initial.iter_mut().flatten().flat_map(|constant| &mut constant.0)
}

/// Doubles the parameters that are 64-bit integers, after bringing blocks into an order in which definitions precede
/// uses.
fn split_params(function: &mut Function) -> HashMap<Value, Pair> {
    simplify_blocks(function);
    let mut pairs = HashMap::new();
    for index in 0..function.blocks.len() {
        let mut params = SmallVec::new();
        for param in std::mem::take(&mut function.blocks[index].params) {
            if !is_wide(function.ty(param)) {
                params.push(param);
                continue;
            }
            let words = function.ty(param).with_scalar(Scalar::I32);
            let mut word = || function.add_value(ValueDef::Param(Block(index as u32)), words);
            let pair = Pair { low: word(), high: word() };
            params.extend([pair.low, pair.high]);
            pairs.insert(param, pair);
            retire(function, param, pair);
        }
        function.blocks[index].params = params;
    }
    pairs
}

/// The value is gone: the words have its name.
fn retire(function: &mut Function, value: Value, pair: Pair) {
    let data = &mut function.values[value.index()];
    (data.def, data.ty) = (ValueDef::Removed, Type::Void);
    if let Some(name) = function.names.remove(&value) {
        function.names.entry(pair.low).or_insert(format!("{name}_low"));
        function.names.entry(pair.high).or_insert(format!("{name}_high"));
    }
}

fn is_wide(ty: Type) -> bool {
    ty.scalar() == Some(Scalar::I64)
}

/// Type of what a function gives in place of a 64-bit integer.
fn packed(ty: Type) -> Result<Type> {
    match ty.lanes() {
        lanes @ 1..=2 => Ok(Type::new(Scalar::I32, 2 * lanes)),
        lanes => Err(Error::unsupported(format!("function that gives 64-bit integers that the target lacks: {lanes}"))),
    }
}

/// One function while it is lowered.
struct Lowering<'r, 'm, 'p> {
    rewrite: &'r mut Rewrite<'m>,
    pairs: &'r mut Pairs<'p>,
}

impl Lowering<'_, '_, '_> {
    fn build(&mut self) -> Builder<'_> {
        self.rewrite.build()
    }

    /// Type of a value; [`Type::Void`] of one that was taken apart.
    fn ty(&self, value: Value) -> Type {
        self.rewrite.ty(value)
    }

    /// The value is, or was, a 64-bit integer.
    fn is_wide(&self, value: Value) -> bool {
        is_wide(self.ty(value)) || self.pairs.of.contains_key(&value)
    }

    /// The words of a 64-bit integer.
    fn pair(&mut self, value: Value) -> Result<Pair> {
        if let Some(&pair) = self.pairs.of.get(&value) {
            return Ok(pair);
        }
        let function = &mut self.rewrite.function;
        let words = function.ty(value).with_scalar(Scalar::I32);
        let lanes = function.as_constant(value).map(SmallVec::<[u64; 4]>::from_slice);
        let lanes = lanes.ok_or_else(|| Error::internal(format!("no 64-bit integer: %{}", value.0)))?;
        let high: SmallVec<[u64; 4]> = lanes.iter().map(|lane| lane >> 32).collect();
        Ok(Pair { low: function.constant(words, &lanes), high: function.constant(words, &high) })
    }

    /// The words of two.
    fn both(&mut self, a: Value, b: Value) -> Result<(Pair, Pair)> {
        Ok((self.pair(a)?, self.pair(b)?))
    }

    /// The words stand for the value.
    fn give(&mut self, value: Value, pair: Pair) {
        retire(&mut self.rewrite.function, value, pair);
        self.pairs.of.insert(value, pair);
    }

    /// The operation on the low words, and on the high words.
    fn halves(&mut self, ty: Type, low: Op, high: Op) -> Pair {
        let words = ty.with_scalar(Scalar::I32);
        let mut build = self.build();
        Pair { low: build.push(low, words), high: build.push(high, words) }
    }

    /// The words of all lanes in one vector, the low one of each first.
    fn pack(&mut self, pair: Pair) -> Value {
        let mut build = self.build();
        let lanes = build.ty(pair.low).lanes();
        let mut words = SmallVec::<[Value; 8]>::new();
        for lane in 0..lanes {
            words.push(build.extract(pair.low, lane));
            words.push(build.extract(pair.high, lane));
        }
        build.compose(&words)
    }

    /// What [`Lowering::pack`] made of `lanes` lanes.
    fn unpack(&mut self, packed: Value, lanes: u8) -> Pair {
        let mut build = self.build();
        let mut half = |first: u8| {
            let words: SmallVec<[Value; 4]> = (0..lanes).map(|lane| build.extract(packed, 2 * lane + first)).collect();
            build.compose(&words)
        };
        Pair { low: half(0), high: half(1) }
    }

    /// Calls a function of the library, which takes integers of 64 bits and gives such, for each lane.
    fn call(&mut self, name: &'static str, operands: &[Pair]) -> Result<Pair> {
        let id = self.rewrite.library(name)?;
        let lanes = operands.first().map_or(1, |pair| self.ty(pair.low).lanes());
        let mut results = SmallVec::<[Pair; 4]>::new();
        for lane in 0..lanes {
            let mut build = self.build();
            let operands = operands
                .iter()
                .flat_map(|pair| [build.extract(pair.low, lane), build.extract(pair.high, lane)])
                .collect();
            let packed = build.push(Op::Call(id, operands), Type::Vector(Scalar::I32, 2));
            results.push(self.unpack(packed, 1));
        }
        Ok(self.join(&results))
    }

    /// Scalars as the lanes of a vector.
    fn join(&mut self, lanes: &[Pair]) -> Pair {
        let low: SmallVec<[Value; 4]> = lanes.iter().map(|pair| pair.low).collect();
        let high: SmallVec<[Value; 4]> = lanes.iter().map(|pair| pair.high).collect();
        let mut build = self.build();
        Pair { low: build.compose(&low), high: build.compose(&high) }
    }

    fn instruction(&mut self, value: Value, op: Op) -> Result<()> {
        let mut takes_wide = false;
        op.for_each_operand(|operand| takes_wide |= self.is_wide(operand));
        let ty = self.ty(value);
        if !takes_wide && !is_wide(ty) {
            self.rewrite.define(value, op);
            return Ok(());
        }
        if is_wide(ty) {
            let pair = self.wide(op, ty)?;
            self.give(value, pair);
            return Ok(());
        }
        match self.narrow(op, ty)? {
            Narrow::Op(op) => self.rewrite.define(value, op),
            Narrow::Value(by) => self.rewrite.replace(value, by),
        }
        Ok(())
    }

    /// An operation that gives 64-bit integers.
    fn wide(&mut self, op: Op, ty: Type) -> Result<Pair> {
        match op {
            Op::Unary(op, a) => self.unary(op, a),
            Op::Binary(op, a, b) => self.binary(op, a, b),
            Op::Ternary(op, a, b, c) => self.ternary(op, [a, b, c]),
            Op::Select { condition, accept, reject } => {
                let (accept, reject) = self.both(accept, reject)?;
                Ok(self.select(condition, accept, reject))
            }
            Op::Convert(op, a) => self.widened(op, a, ty),
            Op::Extract(a, lane) => {
                let Pair { low, high } = self.pair(a)?;
                let mut build = self.build();
                Ok(Pair { low: build.extract(low, lane), high: build.extract(high, lane) })
            }
            Op::ExtractDynamic(a, lane) => {
                let Pair { low, high } = self.pair(a)?;
                Ok(self.halves(ty, Op::ExtractDynamic(low, lane), Op::ExtractDynamic(high, lane)))
            }
            Op::Compose(lanes) => {
                let lanes: SmallVec<[Pair; 4]> = lanes.iter().map(|&lane| self.pair(lane)).collect::<Result<_>>()?;
                Ok(self.join(&lanes))
            }
            Op::Swizzle(a, order) => {
                let Pair { low, high } = self.pair(a)?;
                let mut build = self.build();
                let mut swizzle = |a: Value| match build.ty(a) {
                    Type::Vector(..) => build.swizzle(a, &order),
                    _ => build.splat(a, order.len() as u8),
                };
                Ok(Pair { low: swizzle(low), high: swizzle(high) })
            }
            Op::Call(function, args) => {
                let args = self.arguments(&args)?;
                let packed = self.build().push(Op::Call(function, args), packed(ty)?);
                Ok(self.unpack(packed, ty.lanes()))
            }
            Op::LoadVariable { variable, index, component } => {
                let high = self.high_variable(variable)?;
                let load = |variable| Op::LoadVariable { variable, index, component };
                Ok(self.halves(ty, load(variable), load(high)))
            }
            Op::LoadConstant { .. } | Op::LoadBuffer { .. } => self.load(op, ty),
            Op::Wave(op, operands) => self.wave(op, &operands, ty),
            op => Err(refuse("64-bit integers", &op)),
        }
    }

    /// An operation that takes 64-bit integers, and gives something else or nothing.
    fn narrow(&mut self, op: Op, ty: Type) -> Result<Narrow> {
        match op {
            Op::Unary(op, a) => self.count(op, a).map(Narrow::Value),
            Op::Compare(op, a, b) => self.compare(op, a, b).map(Narrow::Value),
            Op::Convert(op, a) => self.narrowed(op, a, ty).map(Narrow::Value),
            Op::Call(function, args) => Ok(Narrow::Op(Op::Call(function, self.arguments(&args)?))),
            Op::StoreVariable { variable, index, component, value } => {
                let Pair { low, high } = self.pair(value)?;
                let upper = self.high_variable(variable)?;
                self.build().effect(Op::StoreVariable { variable: upper, index, component, value: high });
                Ok(Narrow::Op(Op::StoreVariable { variable, index, component, value: low }))
            }
            Op::StoreBuffer { handle, address, value } => self.store(handle, address, value).map(Narrow::Op),
            Op::Wave(op, operands) => self.wave_predicate(op, &operands, ty).map(Narrow::Value),
            op => Err(refuse("64-bit integers", &op)),
        }
    }

    fn high_variable(&self, variable: VariableId) -> Result<VariableId> {
        let high = self.pairs.variables.get(&variable).copied();
        high.ok_or_else(|| Error::internal(format!("no variable of 64-bit integers: {}", variable.0)))
    }

    fn select(&mut self, condition: Value, accept: Pair, reject: Pair) -> Pair {
        let mut build = self.build();
        Pair {
            low: build.select(condition, accept.low, reject.low),
            high: build.select(condition, accept.high, reject.high),
        }
    }

    /// Arguments of a call or an edge, the words of each after one another.
    fn arguments(&mut self, args: &[Value]) -> Result<SmallVec<[Value; 4]>> {
        let mut words = SmallVec::new();
        for &arg in args {
            if self.is_wide(arg) {
                let pair = self.pair(arg)?;
                words.extend([pair.low, pair.high]);
            } else {
                words.push(arg);
            }
        }
        Ok(words)
    }

    /// Edges, results and choices, when all values are known.
    fn terminators(&mut self) -> Result<()> {
        for index in 0..self.rewrite.function.blocks.len() {
            self.rewrite.block = Block(index as u32);
            let block = &mut self.rewrite.function.blocks[index];
            let mut terminator = std::mem::replace(&mut block.terminator, Terminator::Unreachable);
            for edge in terminator.edges_mut() {
                edge.args = self.arguments(&edge.args)?;
            }
            match &mut terminator {
                Terminator::Return(Some(value)) if self.is_wide(*value) => {
                    let pair = self.pair(*value)?;
                    *value = self.pack(pair);
                }
                Terminator::Switch { selector, cases, .. } if self.is_wide(*selector) => {
                    *selector = self.case_number(*selector, cases)?;
                    for (number, (case, _)) in cases.iter_mut().enumerate() {
                        *case = number as u64;
                    }
                }
                _ => {}
            }
            self.rewrite.function.blocks[index].terminator = terminator;
        }
        let result = self.rewrite.function.result;
        if is_wide(result) {
            self.rewrite.function.result = packed(result)?;
        }
        Ok(())
    }

    /// The number of the case that a selector is, or that of cases.
    fn case_number(&mut self, selector: Value, cases: &[(u64, Edge)]) -> Result<Value> {
        let mut number = self.build().i32(cases.len() as u32);
        for (index, &(case, _)) in cases.iter().enumerate() {
            let case = self.rewrite.function.constant(Type::Scalar(Scalar::I64), &[case]);
            let is_case = self.compare(CompareOp::IEq, selector, case)?;
            let mut build = self.build();
            let this = build.i32(index as u32);
            number = build.select(is_case, this, number);
        }
        Ok(number)
    }
}

/// What an operation on 64-bit integers becomes.
enum Narrow {
    /// It is this, in its place.
    Op(Op),
    /// This stands for it.
    Value(Value),
}
