//! Gives values the type that is asked of them.

use std::collections::HashMap;

use smallvec::SmallVec;

use crate::{
    ir::{ConvertOp, Effect, Function, Inst, Module, Op, Scalar, Terminator, Type, Value, ValueDef, VariableSpace},
    reflection::{Interface, ResourceKind},
};

/// Rounds of improvement over all values. Most change in the first, if at all.
const ROUNDS: usize = 8;

/// Chooses, for each value whose bits alone matter, between a float type and an integer type of the same width, so that
/// few bitcasts are left: loads from memory, parameters, selections, and vectors that are only taken apart and put
/// together take the type that most of what is done with them wants, and constants that of each use.
///
/// Guarantees that no bitcast (but between widths) is of a bitcast or of a constant, and that each value is cast to each
/// type once, right behind its definition. Thread variables and group-shared ones without atomics are typed likewise.
pub fn retype(module: &mut Module, interface: &Interface) {
    retype_variables(module);
    for function in &mut module.functions {
        Retyping::new(function, interface).run();
    }
}

/// The other type of the same width; none of `bool`.
fn other(scalar: Scalar) -> Option<Scalar> {
    Some(match scalar {
        Scalar::Bool => return None,
        Scalar::I16 => Scalar::F16,
        Scalar::I32 => Scalar::F32,
        Scalar::I64 => Scalar::F64,
        Scalar::F16 => Scalar::I16,
        Scalar::F32 => Scalar::I32,
        Scalar::F64 => Scalar::I64,
    })
}

/// The type of the same lanes and width that is float, or is not.
fn typed(ty: Type, float: bool) -> Type {
    match ty.scalar() {
        Some(scalar) if scalar.is_float() != float => ty.with_scalar(other(scalar).unwrap_or(scalar)),
        _ => ty,
    }
}

fn is_float(ty: Type) -> bool {
    ty.scalar().is_some_and(Scalar::is_float)
}

/// The value behind casts of lanes.
fn root(function: &Function, mut value: Value) -> Value {
    while let Some(&Op::Convert(ConvertOp::Bitcast, inner)) = function.op(value)
        && function.ty(inner).lanes() == function.ty(value).lanes()
    {
        value = inner;
    }
    value
}

/// Types of variables' elements, by what is stored in them and how it is used.
fn retype_variables(module: &mut Module) {
    let mut votes = vec![0i64; module.variables.len()];
    let mut fixed: Vec<bool> = module
        .variables
        .iter()
        .map(|variable| {
            // Others have payloads as the same words.
            matches!(variable.space, VariableSpace::Constant | VariableSpace::Interface | VariableSpace::Payload)
                || variable.element.scalar().and_then(other).is_none()
        })
        .collect();
    for function in &module.functions {
        let users = function.users();
        for &value in function.blocks.iter().flat_map(|block| &block.insts) {
            match function.op(value) {
                Some(&Op::StoreVariable { variable, value: stored, .. }) => {
                    let root = root(function, stored);
                    if function.as_constant(root).is_none() && (root != stored || !is_flexible(function, root)) {
                        votes[variable.index()] += if is_float(function.ty(root)) { 1 } else { -1 };
                    }
                }
                Some(&Op::LoadVariable { variable, .. }) => {
                    for &user in &users[value.index()] {
                        let wants = match function.op(user) {
                            Some(Op::Convert(ConvertOp::Bitcast, _)) => !is_float(function.ty(value)),
                            Some(op) if is_transparent(op) || op.effect() == Effect::Write => continue,
                            _ => is_float(function.ty(value)),
                        };
                        votes[variable.index()] += if wants { 1 } else { -1 };
                    }
                }
                Some(Op::AtomicVariable { variable, .. }) => fixed[variable.index()] = true,
                _ => {}
            }
        }
    }
    let mut changed = vec![None; module.variables.len()];
    for (index, variable) in module.variables.iter_mut().enumerate() {
        let float = is_float(variable.element);
        fixed[index] |= votes[index] == 0 || (votes[index] > 0) == float;
        if !fixed[index] {
            variable.element = typed(variable.element, !float);
            changed[index] = variable.element.scalar();
        }
    }
    if changed.iter().all(Option::is_none) {
        return;
    }
    for function in &mut module.functions {
        for block in 0..function.blocks.len() {
            for value in std::mem::take(&mut function.blocks[block].insts) {
                let origin = function.inst(value).map_or(0, |inst| inst.origin);
                let mut cast = None;
                match function.op(value) {
                    Some(&Op::StoreVariable { variable, value: stored, .. }) => {
                        if let Some(scalar) = changed[variable.index()] {
                            let op = Op::Convert(ConvertOp::Bitcast, stored);
                            let ty = function.ty(stored).with_scalar(scalar);
                            let inst = Inst { op, precise: false, origin };
                            let converted = function.add_value(ValueDef::Inst(inst), ty);
                            function.blocks[block].insts.push(converted);
                            if let ValueDef::Inst(Inst { op: Op::StoreVariable { value: stored, .. }, .. }) =
                                &mut function.values[value.index()].def
                            {
                                *stored = converted;
                            }
                        }
                    }
                    Some(&Op::LoadVariable { variable, .. }) => cast = changed[variable.index()],
                    _ => {}
                }
                match cast {
                    // The load gets a new number, so that its uses see the cast.
                    Some(scalar) => {
                        let def = function.values[value.index()].def.clone();
                        let loaded = function.add_value(def, function.ty(value).with_scalar(scalar));
                        let op = Op::Convert(ConvertOp::Bitcast, loaded);
                        function.values[value.index()].def = ValueDef::Inst(Inst { op, precise: false, origin });
                        function.blocks[block].insts.extend([loaded, value]);
                    }
                    None => function.blocks[block].insts.push(value),
                }
            }
        }
    }
}

/// The operation hands bits on, whatever they mean.
fn is_transparent(op: &Op) -> bool {
    matches!(op, Op::Select { .. } | Op::Extract(..) | Op::ExtractDynamic(..) | Op::Compose(_) | Op::Swizzle(..))
}

/// The value's type may be chosen, as far as its definition alone says.
fn is_flexible(function: &Function, value: Value) -> bool {
    match &function.values[value.index()].def {
        ValueDef::Param(block) => *block != function.entry,
        ValueDef::Inst(inst) => is_transparent(&inst.op) || matches!(inst.op, Op::LoadConstant { .. }),
        ValueDef::Constant(_) | ValueDef::Removed => false,
    }
}

/// What a use of a value wants.
#[derive(Clone, Copy)]
enum Wish {
    /// The type that is written there.
    Fixed,
    /// The type of the value that the operation gives.
    Same(Value),
    /// Any.
    Free,
}

struct Retyping<'f> {
    function: &'f mut Function,
    interface: &'f Interface,
    /// The type of each value may be chosen.
    flexible: Vec<bool>,
    /// The type chosen: float.
    float: Vec<bool>,
    /// For float above 0, for integer below: uses and definitions that are fixed.
    votes: Vec<i32>,
    /// Flexible values that a value is the same bits as.
    neighbours: Vec<SmallVec<[Value; 4]>>,
}

impl<'f> Retyping<'f> {
    fn new(function: &'f mut Function, interface: &'f Interface) -> Self {
        let count = function.values.len();
        let mut flexible = vec![false; count];
        let float = function.values.iter().map(|data| is_float(data.ty)).collect();
        for block in &function.blocks {
            for &value in block.params.iter().chain(&block.insts) {
                let chosen = is_flexible(function, value)
                    || matches!(function.op(value), Some(Op::LoadBuffer { handle, .. }) if is_untyped(function, interface, *handle));
                flexible[value.index()] = chosen && function.ty(value).scalar().and_then(other).is_some();
            }
        }
        Self { function, interface, flexible, float, votes: vec![0; count], neighbours: vec![SmallVec::new(); count] }
    }

    fn run(mut self) {
        self.collect();
        self.choose();
        self.rewrite();
    }

    /// What an instruction wants of its operands, in their order. A cast of lanes is no use: whoever uses it wants.
    fn wishes(&self, value: Value) -> SmallVec<[(Value, Wish); 4]> {
        let mut wishes = SmallVec::new();
        let Some(op) = self.function.op(value) else { return wishes };
        if self.is_cast(value) {
            return wishes;
        }
        op.for_each_operand(|operand| wishes.push((operand, Wish::Fixed)));
        let same = Wish::Same(value);
        match op {
            Op::Select { .. } => wishes[1..].iter_mut().for_each(|operand| operand.1 = same),
            Op::Compose(_) => wishes.iter_mut().for_each(|operand| operand.1 = same),
            Op::Extract(..) | Op::Swizzle(..) | Op::ExtractDynamic(..) => wishes[0].1 = same,
            Op::StoreBuffer { handle, .. } if is_untyped(self.function, self.interface, *handle) => {
                if let Some(stored) = wishes.last_mut() {
                    stored.1 = Wish::Free;
                }
            }
            _ => {}
        }
        wishes
    }

    /// What a terminator wants, likewise: of what it chooses by or returns, then of each edge's arguments.
    fn wishes_of_terminator(&self, block: usize) -> SmallVec<[(Value, Wish); 4]> {
        let mut wishes = SmallVec::new();
        let terminator = &self.function.blocks[block].terminator;
        match terminator {
            Terminator::Branch { condition: value, .. }
            | Terminator::Switch { selector: value, .. }
            | Terminator::Return(Some(value)) => wishes.push((*value, Wish::Fixed)),
            Terminator::Jump(_) | Terminator::Return(None) | Terminator::Unreachable => {}
        }
        for edge in terminator.edges() {
            let params = &self.function.blocks[edge.block.index()].params;
            wishes.extend(edge.args.iter().zip(params).map(|(arg, param)| (*arg, Wish::Same(*param))));
        }
        wishes
    }

    /// A bitcast that keeps the lanes.
    fn is_cast(&self, value: Value) -> bool {
        root(self.function, value) != value
    }

    fn collect(&mut self) {
        for block in 0..self.function.blocks.len() {
            for at in 0..self.function.blocks[block].insts.len() {
                for (operand, wish) in self.wishes(self.function.blocks[block].insts[at]) {
                    self.count(operand, wish);
                }
            }
            for (operand, wish) in self.wishes_of_terminator(block) {
                self.count(operand, wish);
            }
        }
    }

    fn count(&mut self, operand: Value, wish: Wish) {
        let from = root(self.function, operand);
        let vote = |ty: Type| if is_float(ty) { 1 } else { -1 };
        match wish {
            Wish::Fixed if self.flexible[from.index()] => {
                self.votes[from.index()] += vote(self.function.ty(operand));
            }
            Wish::Same(to) if self.function.as_constant(from).is_none() => {
                match (self.flexible[from.index()], self.flexible[to.index()]) {
                    (true, true) => {
                        self.neighbours[from.index()].push(to);
                        self.neighbours[to.index()].push(from);
                    }
                    (true, false) => self.votes[from.index()] += vote(self.function.ty(to)),
                    (false, true) => self.votes[to.index()] += vote(self.function.ty(from)),
                    (false, false) => {}
                }
            }
            _ => {}
        }
    }

    /// First what all that is connected wants together, then what each value wants beside its neighbours.
    fn choose(&mut self) {
        let mut seen = vec![false; self.flexible.len()];
        for index in 0..self.flexible.len() {
            if !self.flexible[index] || seen[index] {
                continue;
            }
            let mut group = vec![Value(index as u32)];
            seen[index] = true;
            let mut at = 0;
            let mut vote = 0i64;
            while let Some(&value) = group.get(at) {
                at += 1;
                vote += i64::from(self.votes[value.index()]);
                for &next in &self.neighbours[value.index()] {
                    if !std::mem::replace(&mut seen[next.index()], true) {
                        group.push(next);
                    }
                }
            }
            for value in group {
                if vote != 0 {
                    self.float[value.index()] = vote > 0;
                }
            }
        }
        for _ in 0..ROUNDS {
            let mut changed = false;
            for index in 0..self.flexible.len() {
                if !self.flexible[index] {
                    continue;
                }
                let around: i32 = self.neighbours[index]
                    .iter()
                    .map(|neighbour| if self.float[neighbour.index()] { 1 } else { -1 })
                    .sum();
                let vote = self.votes[index] + around;
                if vote != 0 && self.float[index] != (vote > 0) {
                    self.float[index] = vote > 0;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
    }

    /// Changes the types, and puts casts where they do not meet.
    fn rewrite(self) {
        let before: Vec<Type> = self.function.values.iter().map(|data| data.ty).collect();
        for (data, (flexible, float)) in self.function.values.iter_mut().zip(self.flexible.iter().zip(&self.float)) {
            if *flexible {
                data.ty = typed(data.ty, *float);
            }
        }
        let mut casts = Casts::default();
        for block in 0..self.function.blocks.len() {
            for at in 0..self.function.blocks[block].insts.len() {
                let value = self.function.blocks[block].insts[at];
                let wishes = self.wishes(value);
                let mut operands = casts.grant(self.function, &before, wishes).into_iter();
                if let ValueDef::Inst(inst) = &mut self.function.values[value.index()].def
                    && operands.len() != 0
                {
                    inst.op.for_each_operand_mut(|operand| *operand = operands.next().unwrap_or(*operand));
                }
            }
            let wishes = self.wishes_of_terminator(block);
            let mut operands = casts.grant(self.function, &before, wishes).into_iter();
            self.function.blocks[block]
                .terminator
                .for_each_operand_mut(|operand| *operand = operands.next().unwrap_or(*operand));
        }
        // The new casts stand behind what they are of; the old ones have no uses.
        for block in 0..self.function.blocks.len() {
            let mut insts = Vec::with_capacity(self.function.blocks[block].insts.len());
            for param in &self.function.blocks[block].params {
                insts.extend(casts.behind.remove(param).unwrap_or_default());
            }
            for value in std::mem::take(&mut self.function.blocks[block].insts) {
                let root = root(self.function, value);
                if root == value {
                    insts.push(value);
                    insts.extend(casts.behind.remove(&value).unwrap_or_default());
                } else if let Some(name) = self.function.names.remove(&value)
                    && self.function.as_constant(root).is_none()
                {
                    self.function.names.entry(root).or_insert(name);
                }
            }
            self.function.blocks[block].insts = insts;
        }
        let old = before.len();
        for index in 0..old {
            let value = Value(index as u32);
            if self.is_cast(value) {
                self.function.values[index].def = ValueDef::Removed;
            }
        }
    }
}

/// Casts that are needed.
#[derive(Default)]
struct Casts {
    /// By value and type.
    known: HashMap<(Value, Type), Value>,
    /// By value.
    behind: HashMap<Value, SmallVec<[Value; 1]>>,
}

impl Casts {
    /// The values that are to be used for what was wished; `before` are the types when it was.
    fn grant(
        &mut self,
        function: &mut Function,
        before: &[Type],
        wishes: SmallVec<[(Value, Wish); 4]>,
    ) -> SmallVec<[Value; 4]> {
        wishes
            .into_iter()
            .map(|(operand, wish)| {
                let from = root(function, operand);
                match wish {
                    Wish::Fixed => self.cast(function, from, before[operand.index()]),
                    Wish::Same(value) => {
                        let ty = typed(before[operand.index()], is_float(function.ty(value)));
                        self.cast(function, from, ty)
                    }
                    Wish::Free => from,
                }
            })
            .collect()
    }

    /// A value as a type of the same width.
    fn cast(&mut self, function: &mut Function, value: Value, ty: Type) -> Value {
        if function.ty(value) == ty {
            return value;
        }
        if let Some(lanes) = function.as_constant(value) {
            let lanes = SmallVec::<[u64; 4]>::from_slice(lanes);
            return function.constant(ty, &lanes);
        }
        *self.known.entry((value, ty)).or_insert_with(|| {
            let origin = function.inst(value).map_or(0, |inst| inst.origin);
            let op = Op::Convert(ConvertOp::Bitcast, value);
            let cast = function.add_value(ValueDef::Inst(Inst { op, precise: false, origin }), ty);
            self.behind.entry(value).or_default().push(cast);
            cast
        })
    }
}

/// The buffer holds bits, whatever they mean.
fn is_untyped(function: &Function, interface: &Interface, handle: Value) -> bool {
    let Some(Op::Handle { binding, .. }) = function.op(handle) else { return false };
    interface.bindings.get(binding.index()).is_some_and(|binding| {
        matches!(binding.kind, ResourceKind::RawBuffer { .. } | ResourceKind::StructuredBuffer { .. })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{
        passes::tests::check,
        verify::tests::{constant_buffer, interface},
    };

    #[track_caller]
    fn retyped(before: &str, after: &str) {
        let mut interface = interface();
        interface.bindings.push(constant_buffer());
        check(|module| retype(module, &interface), before, after);
    }

    #[test]
    fn loads_and_parameters_take_the_type_of_their_uses() {
        retyped(
            r#"variable0 "r": thread i32[1]
variable1 "out": group_shared f32[1]

function0 "main" -> void, entry block0 {
block0:
    %0: handle = handle binding0, i32(0)
    %1: i32x4 = load_constant %0, i32(0), 0
    %2: i32 = extract %1, 0
    %3: f32 = bitcast %2
    %4: f32 = f_neg %3
    %5: i32 = bitcast %4
    %6: bool = wave is_first_lane
    store_variable variable0, i32(0), %5
    branch %6, block1(i32(1065353216)), block1(%5)
block1(%7: i32):
    %8: f32 = bitcast %7
    %9: i32 = select %6, %7, i32(0)
    %10: i32 = load_variable variable0, i32(0)
    %11: f32 = bitcast %10
    %12: f32 = bitcast %9
    %13: f32 = f_add %8, %12
    %14: f32 = f_add %11, %13
    store_variable variable1, i32(0), %14
    %15: i32 = wave lane_index
    %16: f32 = bitcast %15
    %17: f32 = f_add %16, %14
    store_variable variable1, i32(0), %17
    store_variable variable1, i32(0), %16
    return
}
"#,
            r#"variable0 "r": thread f32[1]
variable1 "out": group_shared f32[1]

function0 "main" -> void, entry block0 {
block0:
    %0: handle = handle binding0, i32(0)
    %1: f32x4 = load_constant %0, i32(0), 0
    %2: f32 = extract %1, 0
    %4: f32 = f_neg %2
    %6: bool = wave is_first_lane
    store_variable variable0, i32(0), %4
    branch %6, block1(f32(1.0)), block1(%4)
block1(%7: f32):
    %9: f32 = select %6, %7, f32(0.0)
    %25: f32 = load_variable variable0, i32(0)
    %13: f32 = f_add %7, %9
    %14: f32 = f_add %25, %13
    store_variable variable1, i32(0), %14
    %15: i32 = wave lane_index
    %28: f32 = bitcast %15
    %17: f32 = f_add %28, %14
    store_variable variable1, i32(0), %17
    store_variable variable1, i32(0), %28
    return
}
"#,
        );
    }
}
