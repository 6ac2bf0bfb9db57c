//! SSA construction on the fly, for front ends whose programs assign variables: Braun et al., "Simple and Efficient
//! Construction of Static Single Assignment Form" (2013), with block parameters in place of phis.
//!
//! Variables are untyped 32-bit registers: each assignment has the type of the value that was assigned, and where
//! assignments of different types meet, the parameter takes one of them and the others are converted at the end of
//! their blocks. A `bool` stands for a mask of 32 equal bits.

use std::{collections::HashMap, hash::Hash};

use smallvec::SmallVec;

use super::{Block, Builder, CompareOp, ConvertOp, Function, Op, Scalar, Type, Value, ValueDef};

/// The bits of a 32-bit register as lanes of another type.
///
/// A `bool` is a mask of all ones or zeros. To `bool` means a test for any bit that is set, so that only a value that
/// came from a `bool` survives the way there and back.
pub fn coerce(builder: &mut Builder<'_>, value: Value, to: Scalar) -> Value {
    let ty = builder.ty(value);
    let Some(from) = ty.scalar() else { return value };
    if from == to {
        return value;
    }
    if let Some(lanes) = builder.function.as_constant(value) {
        let lanes: SmallVec<[u64; 4]> = lanes
            .iter()
            .map(|&bits| match (from, to) {
                (Scalar::Bool, _) => u64::from(bits != 0) * u64::from(u32::MAX),
                (_, Scalar::Bool) => u64::from(bits != 0),
                _ => bits,
            })
            .collect();
        return builder.function.constant(ty.with_scalar(to), &lanes);
    }
    match (from, to) {
        (Scalar::Bool, _) => {
            let mask = builder.convert(ConvertOp::SExt, value, Scalar::I32);
            builder.bitcast(mask, to)
        }
        (_, Scalar::Bool) => {
            if let Some(&Op::Convert(ConvertOp::SExt, mask)) = builder.function.op(value)
                && builder.ty(mask).scalar() == Some(Scalar::Bool)
            {
                return mask;
            }
            let bits = builder.bitcast(value, Scalar::I32);
            let zero = builder.zero(builder.ty(bits));
            builder.compare(CompareOp::INe, bits, zero)
        }
        _ => builder.bitcast(value, to),
    }
}

/// Builds SSA form for variables of type `V`.
#[derive(Debug)]
pub struct SsaBuilder<V> {
    /// The value of a variable at the end of a block, as far as it is known.
    definitions: HashMap<(V, Block), Value>,
    /// By [`Block`].
    blocks: Vec<BlockState<V>>,
    /// Values that turned out to be others.
    replacements: HashMap<Value, Value>,
}

#[derive(Debug)]
struct BlockState<V> {
    /// No more predecessors will come.
    sealed: bool,
    /// Each once, however many edges lead from it.
    predecessors: SmallVec<[Block; 2]>,
    /// Parameters that wait for their arguments.
    incomplete: Vec<(V, Value)>,
}

/// A parameter and the values that its block's predecessors bring.
struct Join {
    param: Value,
    block: Block,
    args: Vec<(Block, Value)>,
}

impl<V> Default for SsaBuilder<V> {
    fn default() -> Self {
        Self { definitions: HashMap::new(), blocks: Vec::new(), replacements: HashMap::new() }
    }
}

impl<V: Copy + Eq + Hash> SsaBuilder<V> {
    fn state(&mut self, block: Block) -> &mut BlockState<V> {
        let new = || BlockState { sealed: false, predecessors: SmallVec::new(), incomplete: Vec::new() };
        if self.blocks.len() <= block.index() {
            self.blocks.resize_with(block.index() + 1, new);
        }
        &mut self.blocks[block.index()]
    }

    /// Tells that the terminator of `from` leads to `to`. It must be set before a variable is read through the edge.
    pub fn add_edge(&mut self, from: Block, to: Block) {
        let state = self.state(to);
        debug_assert!(!state.sealed, "an edge to a sealed block");
        if !state.predecessors.contains(&from) {
            state.predecessors.push(from);
        }
    }

    /// Some edge leads to the block, as far as is known.
    pub fn has_predecessors(&mut self, block: Block) -> bool {
        !self.state(block).predecessors.is_empty()
    }

    /// Assigns a variable.
    pub fn write(&mut self, variable: V, block: Block, value: Value) {
        self.definitions.insert((variable, block), value);
    }

    /// The value of a variable at the end of what `block` is so far: a scalar, of `wanted` type only if the choice was
    /// free (see [`coerce`]). A variable that was never assigned is 0.
    pub fn read(&mut self, function: &mut Function, variable: V, block: Block, wanted: Option<Scalar>) -> Value {
        let mut fresh = Vec::new();
        let value = self.lookup(function, variable, block, wanted, &mut fresh);
        self.settle(function, variable, wanted, fresh);
        self.resolve(value)
    }

    /// Tells that all edges to a block are known.
    pub fn seal(&mut self, function: &mut Function, block: Block) {
        self.state(block).sealed = true;
        for (variable, param) in std::mem::take(&mut self.state(block).incomplete) {
            let ty = function.ty(param);
            let mut fresh = Vec::new();
            let mut args = Vec::new();
            for predecessor in self.state(block).predecessors.clone() {
                let value = self.lookup(function, variable, predecessor, ty.scalar(), &mut fresh);
                args.push((predecessor, value));
            }
            self.settle(function, variable, ty.scalar(), fresh);
            let join = Join { param, block, args };
            let Some(single) = self.single_argument(&join) else {
                self.attach(function, join);
                continue;
            };
            if function.ty(single) == ty {
                self.replace(function, param, single);
            } else {
                // The parameter was used with its type already: convert once, where it would have stood.
                let end = function.blocks[block.index()].insts.len();
                let scalar = ty.scalar().unwrap_or(Scalar::I32);
                let value = coerce(&mut Builder::new(function, block), single, scalar);
                let insts = &mut function.blocks[block.index()].insts;
                let converted = insts.split_off(end);
                insts.splice(0..0, converted);
                self.replace(function, param, value);
            }
        }
    }

    /// Writes every value's final name into the function. All blocks must be sealed.
    pub fn finish(mut self, function: &mut Function) {
        while self.remove_trivial_params(function) {}
        for index in 0..function.values.len() {
            let mut def = std::mem::replace(&mut function.values[index].def, ValueDef::Removed);
            if let ValueDef::Inst(inst) = &mut def {
                inst.op.for_each_operand_mut(|value| *value = self.resolve(*value));
            }
            function.values[index].def = def;
        }
        for block in &mut function.blocks {
            block.terminator.for_each_operand_mut(|value| *value = self.resolve(*value));
        }
    }

    /// Finds the definition that reaches the end of a block; where several meet it makes a parameter, whose arguments
    /// are not looked up yet.
    fn lookup(
        &mut self,
        function: &mut Function,
        variable: V,
        block: Block,
        wanted: Option<Scalar>,
        fresh: &mut Vec<(Value, Block)>,
    ) -> Value {
        let mut passed = SmallVec::<[Block; 8]>::new();
        let mut at = block;
        let value = loop {
            if let Some(&value) = self.definitions.get(&(variable, at)) {
                break self.resolve(value);
            }
            passed.push(at);
            let state = self.state(at);
            match (state.sealed, state.predecessors.as_slice()) {
                (true, &[single]) => at = single,
                (true, []) => break function.zero(Type::Scalar(wanted.unwrap_or(Scalar::I32))),
                (sealed, _) => {
                    // The type of a sealed block's parameter is decided when its arguments are known. A loop's has to
                    // be guessed now; it is never bool, because later values may be other masks.
                    let guess = wanted.filter(|wanted| *wanted != Scalar::Bool);
                    let guess =
                        guess.or_else(|| if sealed { None } else { self.incoming_type(function, variable, at) });
                    let ty = guess.filter(|guess| *guess != Scalar::Bool).unwrap_or(Scalar::I32);
                    let param = function.add_value(ValueDef::Param(at), Type::Scalar(ty));
                    if sealed {
                        fresh.push((param, at));
                    } else {
                        self.state(at).incomplete.push((variable, param));
                    }
                    break param;
                }
            }
        };
        for block in passed {
            self.definitions.insert((variable, block), value);
        }
        value
    }

    /// Type of what the known predecessors of an unsealed block bring, as far as it can be seen without making
    /// parameters.
    fn incoming_type(&mut self, function: &Function, variable: V, block: Block) -> Option<Scalar> {
        let mut at = *self.state(block).predecessors.first()?;
        // Far enough for any loop that a compiler writes; the type is a guess in any case.
        for _ in 0..64 {
            if let Some(&value) = self.definitions.get(&(variable, at)) {
                let value = self.resolve(value);
                return function.ty(value).scalar().filter(|_| function.as_constant(value).is_none());
            }
            at = *self.state(at).predecessors.first()?;
        }
        None
    }

    /// Looks up the arguments of new parameters, drops those that are no choice, and decides the types of the others.
    fn settle(&mut self, function: &mut Function, variable: V, wanted: Option<Scalar>, mut fresh: Vec<(Value, Block)>) {
        let mut joins = Vec::new();
        let mut next = 0;
        while let Some(&(param, block)) = fresh.get(next) {
            next += 1;
            let mut args = Vec::new();
            for predecessor in self.state(block).predecessors.clone() {
                args.push((predecessor, self.lookup(function, variable, predecessor, wanted, &mut fresh)));
            }
            joins.push(Join { param, block, args });
        }
        // The last ones made are nearest to the definitions.
        joins.reverse();
        loop {
            let count = joins.len();
            joins.retain(|join| match self.single_argument(join) {
                Some(single) => {
                    self.replace(function, join.param, single);
                    false
                }
                None => true,
            });
            if joins.len() == count {
                break;
            }
        }
        self.decide_types(function, wanted, &joins);
        for join in joins {
            self.attach(function, join);
        }
    }

    /// The one value that a parameter can have, if it is no choice.
    fn single_argument(&mut self, join: &Join) -> Option<Value> {
        let mut single = None;
        for &(_, arg) in &join.args {
            let arg = self.resolve(arg);
            if arg == join.param || single == Some(arg) {
                continue;
            }
            if single.is_some() {
                return None;
            }
            single = Some(arg);
        }
        single
    }

    fn decide_types(&mut self, function: &mut Function, wanted: Option<Scalar>, joins: &[Join]) {
        let unclear = wanted.filter(|wanted| *wanted != Scalar::Bool).unwrap_or(Scalar::I32);
        let mut types: HashMap<Value, Kind> = joins.iter().map(|join| (join.param, Kind::Nothing)).collect();
        let mut changed = true;
        while changed {
            changed = false;
            for join in joins {
                let mut ty = types[&join.param];
                for &(_, arg) in &join.args {
                    let arg = self.resolve(arg);
                    ty = ty.merge(match (types.get(&arg), function.as_constant(arg)) {
                        (Some(&ty), _) => ty,
                        (None, Some(&[0])) => Kind::Nothing,
                        (None, Some(&[0xffff_ffff])) => Kind::Ones,
                        (None, Some(_)) if function.ty(arg) == Type::BOOL => Kind::Nothing,
                        (None, Some(&[bits])) if is_odd_float(bits) => Kind::Integer,
                        (None, Some(_)) => Kind::Number,
                        (None, None) => match function.ty(arg).scalar() {
                            Some(Scalar::Bool) => Kind::Bool,
                            Some(scalar) => Kind::Scalar(scalar),
                            None => Kind::Mixed,
                        },
                    });
                }
                if ty != types[&join.param] {
                    types.insert(join.param, ty);
                    changed = true;
                }
            }
        }
        for join in joins {
            let scalar = match types[&join.param] {
                Kind::Nothing => wanted.unwrap_or(Scalar::I32),
                Kind::Ones if wanted == Some(Scalar::Bool) => Scalar::Bool,
                Kind::Number => unclear,
                // Bits that are no float may not travel as one: drivers flush denormals.
                Kind::Ones | Kind::Integer | Kind::Mixed => Scalar::I32,
                Kind::Bool => Scalar::Bool,
                Kind::Scalar(scalar) => scalar,
            };
            function.values[join.param.index()].ty = Type::Scalar(scalar);
        }
    }

    /// Makes a value a parameter of its block, and brings the arguments.
    fn attach(&mut self, function: &mut Function, join: Join) {
        let scalar = function.ty(join.param).scalar().unwrap_or(Scalar::I32);
        function.blocks[join.block.index()].params.push(join.param);
        for (predecessor, arg) in join.args {
            let arg = self.resolve(arg);
            let arg = coerce(&mut Builder::new(function, predecessor), arg, scalar);
            for edge in function.blocks[predecessor.index()].terminator.edges_mut() {
                if edge.block == join.block {
                    edge.args.push(arg);
                }
            }
        }
    }

    fn replace(&mut self, function: &mut Function, value: Value, by: Value) {
        self.replacements.insert(value, by);
        function.values[value.index()].def = ValueDef::Removed;
    }

    /// What a value turned out to be.
    fn resolve(&mut self, value: Value) -> Value {
        let mut last = value;
        while let Some(&next) = self.replacements.get(&last) {
            last = next;
        }
        // Shorten the way for the next time.
        let mut at = value;
        while let Some(next) = self.replacements.get_mut(&at) {
            at = std::mem::replace(next, last);
            if at == last {
                break;
            }
        }
        last
    }

    /// Drops parameters that became no choice when others were replaced. Tells whether there were any.
    fn remove_trivial_params(&mut self, function: &mut Function) -> bool {
        let mut incoming: HashMap<Block, Vec<SmallVec<[Value; 4]>>> = HashMap::new();
        for block in &function.blocks {
            for edge in block.terminator.edges() {
                incoming.entry(edge.block).or_default().push(edge.args.clone());
            }
        }
        let mut removed = false;
        for index in 0..function.blocks.len() {
            let block = Block(index as u32);
            let Some(edges) = incoming.get(&block) else { continue };
            let params = function.blocks[index].params.clone();
            let mut kept = SmallVec::<[bool; 8]>::new();
            for (position, &param) in params.iter().enumerate() {
                let args = edges.iter().map(|args| (block, args[position])).collect();
                let single = self.single_argument(&Join { param, block, args });
                kept.push(single.is_none());
                if let Some(single) = single {
                    self.replace(function, param, single);
                    removed = true;
                }
            }
            if kept.iter().all(|kept| *kept) {
                continue;
            }
            let keep = |list: &mut SmallVec<[Value; 4]>| {
                let mut position = 0;
                list.retain(|_| {
                    position += 1;
                    kept[position - 1]
                });
            };
            keep(&mut function.blocks[index].params);
            for predecessor in self.state(block).predecessors.clone() {
                let terminator = &mut function.blocks[predecessor.index()].terminator;
                for edge in terminator.edges_mut().filter(|edge| edge.block == block) {
                    keep(&mut edge.args);
                }
            }
        }
        removed
    }
}

/// What is known of a parameter's type; merging only goes down this list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Zeros alone, which every type has.
    Nothing,
    /// Zeros and all ones.
    Ones,
    /// `bool`.
    Bool,
    /// Other constants.
    Number,
    /// Constants that a float does not hold safely.
    Integer,
    /// A number.
    Scalar(Scalar),
    /// Numbers of several types.
    Mixed,
}

impl Kind {
    fn merge(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, other) | (other, Self::Nothing) => other,
            (a, b) if a == b => a,
            (Self::Ones, Self::Bool) | (Self::Bool, Self::Ones) => Self::Bool,
            (Self::Ones, Self::Number | Self::Integer) | (Self::Number | Self::Integer, Self::Ones) => Self::Integer,
            (Self::Bool | Self::Number, Self::Scalar(scalar)) | (Self::Scalar(scalar), Self::Bool | Self::Number) => {
                Self::Scalar(scalar)
            }
            (Self::Bool | Self::Number, Self::Integer) | (Self::Integer, Self::Bool | Self::Number) => Self::Integer,
            _ => Self::Mixed,
        }
    }
}

/// As a float the bits are a denormal or a NaN.
fn is_odd_float(bits: u64) -> bool {
    f32::from_bits(bits as u32).is_subnormal() || f32::from_bits(bits as u32).is_nan()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{BinaryOp, Terminator};

    /// entry -> header <-> body, header -> exit; returns the blocks.
    fn looped() -> (Function, SsaBuilder<u32>, [Block; 4]) {
        let mut function = Function::new("f", Type::Void);
        let blocks = [function.entry, function.add_block(), function.add_block(), function.add_block()];
        let mut ssa = SsaBuilder::default();
        ssa.seal(&mut function, blocks[0]);
        Builder::new(&mut function, blocks[0]).jump(blocks[1], &[]);
        ssa.add_edge(blocks[0], blocks[1]);
        (function, ssa, blocks)
    }

    #[test]
    fn loop_variable_becomes_a_parameter() {
        let (mut function, mut ssa, [entry, header, body, exit]) = looped();
        let (start, kept) = (function.i32(0), function.i32(7));
        ssa.write(0, entry, start);
        ssa.write(1, entry, kept);
        let counter = ssa.read(&mut function, 0, header, Some(Scalar::I32));
        let condition = {
            let mut builder = Builder::new(&mut function, header);
            let limit = builder.i32(4);
            let condition = builder.compare(CompareOp::SGe, counter, limit);
            builder.branch(condition, exit, body);
            condition
        };
        ssa.add_edge(header, exit);
        ssa.add_edge(header, body);
        ssa.seal(&mut function, body);
        let counter = ssa.read(&mut function, 0, body, Some(Scalar::I32));
        let step = ssa.read(&mut function, 1, body, Some(Scalar::I32));
        let next = Builder::new(&mut function, body).binary(BinaryOp::IAdd, counter, step);
        ssa.write(0, body, next);
        Builder::new(&mut function, body).jump(header, &[]);
        ssa.add_edge(body, header);
        ssa.seal(&mut function, header);
        ssa.seal(&mut function, exit);
        let last = ssa.read(&mut function, 0, exit, None);
        function.blocks[exit.index()].terminator = Terminator::Return(Some(last));
        ssa.finish(&mut function);

        assert_eq!(function.blocks[header.index()].params.as_slice(), [counter], "only the counter changes");
        assert_eq!(function.blocks[exit.index()].terminator, Terminator::Return(Some(counter)));
        assert_eq!(function.op(next), Some(&Op::Binary(BinaryOp::IAdd, counter, kept)));
        assert_eq!(function.op(condition).map(|op| matches!(op, Op::Compare(..))), Some(true));
    }

    #[test]
    fn masks_that_meet_stay_bool_and_others_do_not() {
        for (other, expected) in [(u32::MAX, Scalar::Bool), (1, Scalar::I32)] {
            let mut function = Function::new("f", Type::Void);
            let [entry, left, right, merge] =
                [function.entry, function.add_block(), function.add_block(), function.add_block()];
            let mut ssa = SsaBuilder::default();
            ssa.seal(&mut function, entry);
            let mask = {
                let mut builder = Builder::new(&mut function, entry);
                let (a, b) = (builder.f32(1.0), builder.f32(2.0));
                let mask = builder.compare(CompareOp::FLt, a, b);
                builder.branch(mask, left, right);
                mask
            };
            for side in [left, right] {
                ssa.add_edge(entry, side);
                ssa.seal(&mut function, side);
                Builder::new(&mut function, side).jump(merge, &[]);
                ssa.add_edge(side, merge);
            }
            ssa.seal(&mut function, merge);
            let other = function.i32(other);
            ssa.write(0, left, mask);
            ssa.write(0, right, other);
            let value = ssa.read(&mut function, 0, merge, None);
            assert_eq!(function.ty(value), Type::Scalar(expected));
        }
    }
}
