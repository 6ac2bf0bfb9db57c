//! Turns variables into values.

use std::collections::{HashMap, HashSet};

use smallvec::SmallVec;

use super::replace::Replacements;
use crate::ir::{
    Block, Builder, Cfg, Dominators, Function, Module, Op, Type, Value, ValueDef, Variable, VariableId, VariableSpace,
};

/// Elements of a variable that are still promoted: compilers index larger ones dynamically.
const MAX_ELEMENTS: u32 = 4096;

/// Guarantees that a thread variable of at most 4,096 elements whose accesses all have constant indices is neither read nor written, if they are
/// all in one function, of an entry point, that no other calls: its elements are values, handed on by parameters where ways meet. Elements
/// of which single lanes are accessed become scalars.
///
/// Loads of constant variables at constant indices become constants.
pub fn promote_variables(module: &mut Module) {
    let called: HashSet<usize> = module
        .functions
        .iter()
        .flat_map(|function| function.blocks.iter().flat_map(|block| &block.insts).map(move |inst| (function, *inst)))
        .filter_map(|(function, inst)| match function.op(inst) {
            Some(Op::Call(callee, _)) => Some(callee.index()),
            _ => None,
        })
        .collect();
    let mut runs: HashMap<usize, u32> = HashMap::new();
    for entry in &module.entry_points {
        for function in [entry.function].iter().chain(&entry.patch_constant_functions) {
            *runs.entry(function.index()).or_default() += 1;
        }
    }
    let accesses = find_accesses(module);
    for (index, function) in module.functions.iter_mut().enumerate() {
        load_constants(function, &module.variables);
        // A variable keeps its value from one call to the next, also from outside the module, but an entry point runs once.
        if called.contains(&index) || runs.get(&index) != Some(&1) {
            continue;
        }
        let mut promotion = Promotion::new(&module.variables);
        for (variable, access) in accesses.iter().enumerate() {
            if let Access::Constant { function, lanes } = access
                && *function == index
            {
                promotion.add(VariableId(variable as u32), *lanes);
            }
        }
        if !promotion.first.is_empty() {
            promotion.run(function);
        }
    }
}

/// How a variable is accessed.
#[derive(Clone, Copy)]
enum Access {
    /// Not at all.
    None,
    /// At constant indices, in one function; `lanes` if single lanes are.
    Constant { function: usize, lanes: bool },
    /// Otherwise.
    Other,
}

fn find_accesses(module: &Module) -> Vec<Access> {
    let mut accesses: Vec<Access> = module
        .variables
        .iter()
        .map(|variable| match variable.space {
            VariableSpace::Thread if variable.len <= MAX_ELEMENTS => Access::None,
            _ => Access::Other,
        })
        .collect();
    for (index, function) in module.functions.iter().enumerate() {
        for &value in function.blocks.iter().flat_map(|block| &block.insts) {
            let (variable, place, component) = match function.op(value) {
                Some(Op::LoadVariable { variable, index, component }) => (variable, index, component),
                Some(Op::StoreVariable { variable, index, component, .. }) => (variable, index, component),
                Some(Op::AtomicVariable { variable, .. } | Op::DispatchMesh { payload: variable, .. }) => {
                    accesses[variable.index()] = Access::Other;
                    continue;
                }
                _ => continue,
            };
            let access = &mut accesses[variable.index()];
            let constant = function.as_scalar_constant(*place).is_some();
            *access = match *access {
                Access::None if constant => Access::Constant { function: index, lanes: component.is_some() },
                Access::Constant { function, lanes } if constant && function == index => {
                    Access::Constant { function, lanes: lanes || component.is_some() }
                }
                _ => Access::Other,
            };
        }
    }
    accesses
}

/// Replaces loads of constant variables at constant indices.
fn load_constants(function: &mut Function, variables: &[Variable]) {
    let mut replacements = Replacements::new(function);
    for block in 0..function.blocks.len() {
        for at in 0..function.blocks[block].insts.len() {
            let value = function.blocks[block].insts[at];
            let Some(&Op::LoadVariable { variable, index, component }) = function.op(value) else { continue };
            let variable = &variables[variable.index()];
            if variable.space == VariableSpace::Constant
                && let Some(index) = function.as_scalar_constant(index)
            {
                let lanes = element(variable, index);
                let constant = match component {
                    Some(lane) => function.constant(function.ty(value), &[lanes[lane as usize]]),
                    None => function.constant(function.ty(value), &lanes),
                };
                replacements.set(value, constant);
            }
        }
    }
    replacements.apply(function);
}

/// First value of an element; zeros out of range.
fn element(variable: &Variable, index: u64) -> SmallVec<[u64; 4]> {
    let initial = variable.initial.as_ref().and_then(|initial| initial.get(index as usize));
    initial.map_or_else(|| SmallVec::from_elem(0, variable.element.lanes() as usize), |constant| constant.0.clone())
}

/// A piece of a variable that becomes values: an element or a lane of one.
#[derive(Clone, Copy)]
struct Piece {
    variable: VariableId,
    index: u32,
    /// The lane, if lanes are apart.
    lane: Option<u8>,
}

/// The variables of one function that become values.
struct Promotion<'a> {
    variables: &'a [Variable],
    /// Number of the first piece of each variable, and whether its lanes are apart.
    first: HashMap<VariableId, (u32, bool)>,
    pieces: Vec<Piece>,
}

/// What the blocks do with a piece.
#[derive(Default)]
struct Use {
    /// Blocks that write it.
    writes: Vec<Block>,
    /// Blocks that read what they did not write before.
    reads: Vec<Block>,
}

impl<'a> Promotion<'a> {
    fn new(variables: &'a [Variable]) -> Self {
        Self { variables, first: HashMap::new(), pieces: Vec::new() }
    }

    fn add(&mut self, variable: VariableId, lanes: bool) {
        let data = &self.variables[variable.index()];
        let lanes = lanes && data.element.lanes() > 1;
        self.first.insert(variable, (self.pieces.len() as u32, lanes));
        for index in 0..data.len {
            if lanes {
                self.pieces.extend((0..data.element.lanes()).map(|lane| Piece { variable, index, lane: Some(lane) }));
            } else {
                self.pieces.push(Piece { variable, index, lane: None });
            }
        }
    }

    /// Type of a piece.
    fn ty(&self, piece: Piece) -> Type {
        let element = self.variables[piece.variable.index()].element;
        match (piece.lane, element.scalar()) {
            (Some(_), Some(scalar)) => Type::Scalar(scalar),
            _ => element,
        }
    }

    /// The pieces that an access touches; none if its index is out of range.
    fn touched(
        &self,
        function: &Function,
        variable: VariableId,
        index: Value,
        component: Option<u8>,
    ) -> Option<SmallVec<[u32; 4]>> {
        let &(first, apart) = self.first.get(&variable)?;
        let data = &self.variables[variable.index()];
        let lanes = u32::from(data.element.lanes());
        Some(match function.as_scalar_constant(index) {
            Some(index) if index < u64::from(data.len) => match (apart, component) {
                (false, _) => SmallVec::from_elem(first + index as u32, 1),
                (true, Some(lane)) => SmallVec::from_elem(first + index as u32 * lanes + u32::from(lane), 1),
                (true, None) => (0..lanes).map(|lane| first + index as u32 * lanes + lane).collect(),
            },
            _ => SmallVec::new(),
        })
    }

    fn run(&self, function: &mut Function) {
        let cfg = Cfg::new(function);
        let dominators = Dominators::new(function, &cfg);
        let uses = self.find_uses(function, &cfg);
        let params = self.place_params(function, &cfg, &dominators, &uses);
        self.rename(function, &dominators, &params);
    }

    fn find_uses(&self, function: &Function, cfg: &Cfg) -> Vec<Use> {
        let mut uses: Vec<Use> = (0..self.pieces.len()).map(|_| Use::default()).collect();
        for &block in cfg.reverse_post_order() {
            for &value in &function.blocks[block.index()].insts {
                match function.op(value) {
                    Some(&Op::LoadVariable { variable, index, component }) => {
                        for piece in self.touched(function, variable, index, component).unwrap_or_default() {
                            let Use { writes, reads } = &mut uses[piece as usize];
                            if writes.last() != Some(&block) && reads.last() != Some(&block) {
                                reads.push(block);
                            }
                        }
                    }
                    Some(&Op::StoreVariable { variable, index, component, .. }) => {
                        for piece in self.touched(function, variable, index, component).unwrap_or_default() {
                            let Use { writes, .. } = &mut uses[piece as usize];
                            if writes.last() != Some(&block) {
                                writes.push(block);
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        uses
    }

    /// Adds parameters where values of a piece meet and one is needed. Gives the pieces of each block's new parameters.
    ///
    /// Cytron and others: *Efficiently Computing Static Single Assignment Form* (1991), pruned by liveness.
    fn place_params(
        &self,
        function: &mut Function,
        cfg: &Cfg,
        dominators: &Dominators,
        uses: &[Use],
    ) -> Vec<Vec<(u32, Value)>> {
        let count = function.blocks.len();
        let mut frontiers: Vec<Vec<Block>> = vec![Vec::new(); count];
        for &block in cfg.reverse_post_order() {
            if cfg.predecessors(block).len() < 2 {
                continue;
            }
            for &from in cfg.predecessors(block) {
                let mut runner = Some(from);
                while let Some(at) = runner
                    && runner != dominators.immediate(block)
                {
                    if frontiers[at.index()].last() != Some(&block) {
                        frontiers[at.index()].push(block);
                    }
                    runner = dominators.immediate(at);
                }
            }
        }
        let mut params = vec![Vec::new(); count];
        // For which piece a block was met last: spares clearing a set for each.
        let mut needed = vec![u32::MAX; count];
        let mut joined = vec![u32::MAX; count];
        let mut writing = vec![u32::MAX; count];
        for (piece, Use { writes, reads }) in uses.iter().enumerate() {
            let number = piece as u32;
            for block in writes {
                writing[block.index()] = number;
            }
            let mut work = reads.clone();
            while let Some(block) = work.pop() {
                if std::mem::replace(&mut needed[block.index()], number) != number {
                    work.extend(cfg.predecessors(block).iter().filter(|from| writing[from.index()] != number));
                }
            }
            let mut work = writes.clone();
            while let Some(block) = work.pop() {
                for &join in &frontiers[block.index()] {
                    if needed[join.index()] == number && std::mem::replace(&mut joined[join.index()], number) != number
                    {
                        let piece = self.pieces[piece];
                        let param = function.add_param(join, self.ty(piece));
                        function.names.insert(param, self.name(piece));
                        params[join.index()].push((number, param));
                        work.push(join);
                    }
                }
            }
        }
        params
    }

    /// A name for people.
    fn name(&self, piece: Piece) -> String {
        let variable = &self.variables[piece.variable.index()];
        let mut name = variable.name.clone();
        if variable.len > 1 {
            name += &format!("_{}", piece.index);
        }
        if let Some(lane) = piece.lane {
            name += ["_x", "_y", "_z", "_w"][lane as usize & 3];
        }
        name
    }

    /// Replaces loads, removes stores, and brings arguments for the new parameters, walking down the dominator tree with
    /// the value of each piece.
    fn rename(&self, function: &mut Function, dominators: &Dominators, params: &[Vec<(u32, Value)>]) {
        let mut replacements = Replacements::new(function);
        let mut current: Vec<Option<Value>> = vec![None; self.pieces.len()];
        // Values of pieces before a block changed them, to be put back behind what it dominates.
        let mut before: Vec<(u32, Option<Value>)> = Vec::new();
        enum Step {
            Enter(Block),
            Leave(usize),
        }
        let mut work = vec![Step::Enter(function.entry)];
        while let Some(step) = work.pop() {
            let block = match step {
                Step::Enter(block) => block,
                Step::Leave(len) => {
                    for (piece, value) in before.drain(len..).rev() {
                        current[piece as usize] = value;
                    }
                    continue;
                }
            };
            work.push(Step::Leave(before.len()));
            work.extend(dominators.children(block).iter().map(|child| Step::Enter(*child)));
            let mut set = |current: &mut Vec<Option<Value>>, piece: u32, value: Value| {
                before.push((piece, current[piece as usize].replace(value)));
            };
            for &(piece, param) in &params[block.index()] {
                set(&mut current, piece, param);
            }
            for value in std::mem::take(&mut function.blocks[block.index()].insts) {
                let op = function.op(value);
                let (variable, index, component, stored) = match op {
                    Some(&Op::LoadVariable { variable, index, component }) => (variable, index, component, None),
                    Some(&Op::StoreVariable { variable, index, component, value }) => {
                        (variable, index, component, Some(value))
                    }
                    _ => {
                        function.blocks[block.index()].insts.push(value);
                        continue;
                    }
                };
                let Some(touched) = self.touched(function, variable, index, component) else {
                    function.blocks[block.index()].insts.push(value);
                    continue;
                };
                let origin = function.inst(value).map_or(0, |inst| inst.origin);
                let ty = function.ty(value);
                let mut builder = Builder::new(function, block);
                builder.origin = origin;
                match stored {
                    Some(stored) => {
                        let stored = replacements.get(stored);
                        let whole = touched.len() > 1;
                        for (lane, piece) in touched.into_iter().enumerate() {
                            let part = if whole { builder.extract(stored, lane as u8) } else { stored };
                            set(&mut current, piece, part);
                        }
                    }
                    None => {
                        let parts: SmallVec<[Value; 4]> =
                            touched.into_iter().map(|piece| self.current(&current, builder.function, piece)).collect();
                        let loaded = if parts.is_empty() { builder.zero(ty) } else { builder.compose(&parts) };
                        replacements.set(value, loaded);
                    }
                }
                function.values[value.index()].def = ValueDef::Removed;
            }
            let mut terminator =
                std::mem::replace(&mut function.blocks[block.index()].terminator, crate::ir::Terminator::Unreachable);
            for edge in terminator.edges_mut() {
                for &(piece, _) in &params[edge.block.index()] {
                    edge.args.push(self.current(&current, function, piece));
                }
            }
            function.blocks[block.index()].terminator = terminator;
        }
        // Unreachable blocks bring arguments too.
        for index in 0..function.blocks.len() {
            let mut terminator =
                std::mem::replace(&mut function.blocks[index].terminator, crate::ir::Terminator::Unreachable);
            for edge in terminator.edges_mut() {
                let missing = function.blocks[edge.block.index()].params.len() - edge.args.len();
                let place = edge.args.len();
                for param in 0..missing {
                    let ty = function.ty(function.blocks[edge.block.index()].params[place + param]);
                    edge.args.push(function.zero(ty));
                }
            }
            function.blocks[index].terminator = terminator;
        }
        replacements.apply(function);
    }

    /// The value of a piece: what it begins with if nothing was written.
    fn current(&self, current: &[Option<Value>], function: &mut Function, piece: u32) -> Value {
        if let Some(value) = current[piece as usize] {
            return value;
        }
        let piece = self.pieces[piece as usize];
        let lanes = element(&self.variables[piece.variable.index()], u64::from(piece.index));
        match piece.lane {
            Some(lane) => function.constant(self.ty(piece), &[lanes[lane as usize]]),
            None => function.constant(self.ty(piece), &lanes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::passes::tests::check;

    #[test]
    fn elements_become_values() {
        check(
            promote_variables,
            r#"variable0 "x0": thread f32x2[2] = [f32x2(1.0, 2.0), f32x2(3.0, 4.0)]
variable1 "sum": thread i32[1]
variable2 "dynamic": thread i32[4]
variable3 "table": constant i32[2] = [i32(10), i32(11)]
entry compute function0

function0 "main" -> void, entry block0 {
block0:
    %0: bool = wave is_first_lane
    %1: f32 = load_variable variable0, i32(1), component: 1
    store_variable variable0, i32(1), component: 0, %1
    store_variable variable0, i32(7), f32x2(9.0, 9.0)
    %2: i32 = load_variable variable3, i32(1)
    jump block1
block1:
    %3: i32 = load_variable variable1, i32(0)
    %4: i32 = i_add %3, %2
    store_variable variable1, i32(0), %4
    branch %0, block1, block2
block2:
    %5: f32x2 = load_variable variable0, i32(1)
    %6: f32x2 = f_neg %5
    store_variable variable2, %4, %3
    store_variable variable2, i32(0), %2
    %7: f32x2 = load_variable variable0, i32(2)
    %8: f32x2 = f_add %7, %6
    return
}
"#,
            r#"variable0 "x0": thread f32x2[2] = [f32x2(1.0, 2.0), f32x2(3.0, 4.0)]
variable1 "sum": thread i32[1]
variable2 "dynamic": thread i32[4]
variable3 "table": constant i32[2] = [i32(10), i32(11)]
entry compute function0

function0 "main" -> void, entry block0 {
block0:
    %0: bool = wave is_first_lane
    %2: i32 = load_variable variable3, i32(1)
    jump block1(i32(0))
block1(%20 "sum": i32):
    %4: i32 = i_add %20, i32(11)
    branch %0, block1(%4), block2
block2:
    %6: f32x2 = f_neg f32x2(4.0, 4.0)
    store_variable variable2, %4, %20
    store_variable variable2, i32(0), i32(11)
    %8: f32x2 = f_add f32x2(0.0, 0.0), %6
    return
}
"#,
        );
    }

    #[test]
    fn lanes_stored_in_turn_meet() {
        check(
            promote_variables,
            r#"variable0 "r": thread f32x2[1]
entry compute function0

function0 "main" -> void, entry block0 {
block0:
    %0: bool = wave is_first_lane
    branch %0, block1, block2
block1:
    store_variable variable0, i32(0), component: 1, f32(1.0)
    jump block2
block2:
    %1: f32x2 = load_variable variable0, i32(0)
    %2: f32x2 = f_neg %1
    return
}
"#,
            r#"variable0 "r": thread f32x2[1]
entry compute function0

function0 "main" -> void, entry block0 {
block0:
    %0: bool = wave is_first_lane
    branch %0, block1, block2(f32(0.0))
block1:
    jump block2(f32(1.0))
block2(%6 "r_y": f32):
    %8: f32x2 = compose f32(0.0), %6
    %2: f32x2 = f_neg %8
    return
}
"#,
        );
    }
}
