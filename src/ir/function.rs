//! Functions: values, basic blocks, and the graph they make.

use std::collections::HashMap;

use smallvec::SmallVec;

use super::{Op, Scalar, Type};

/// Defines an index into one of the lists of a [`Function`] or a [`Module`](super::Module).
macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// Position in its list.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}
pub(super) use index;

index!(
    /// A value: what an instruction gives, a parameter of a block, or a constant.
    Value
);
index!(
    /// A basic block of a function.
    Block
);

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueDef {
    /// A constant. Constants stand in no block and are equal if their type and bits are.
    Constant(Constant),
    /// A parameter of a block: each edge to the block brings an argument for it. Parameters of the entry block are
    /// those of the function.
    Param(Block),
    /// An instruction; it stands in exactly one block.
    Inst(Inst),
    /// Removed by a pass; nothing uses it.
    Removed,
}

/// A constant number or vector: the bits of each lane, zero-extended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Constant(pub SmallVec<[u64; 4]>);

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    /// What it does.
    pub op: Op,
    /// It may not be reassociated, fused or contracted (`precise`).
    pub precise: bool,
    /// Number of the instruction in the container's program that it came from, for messages.
    pub origin: u32,
}

/// A value's definition and type.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueData {
    /// Where it comes from.
    pub def: ValueDef,
    /// Its type; [`Type::Void`] for instructions without a result.
    pub ty: Type,
}

/// An edge: the block it leads to, and the arguments for its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// Where it leads.
    pub block: Block,
    /// One argument for each parameter of the block.
    pub args: SmallVec<[Value; 4]>,
}

impl Edge {
    /// An edge without arguments.
    pub fn new(block: Block) -> Self {
        Self { block, args: SmallVec::new() }
    }
}

/// How a block ends.
#[derive(Clone, Debug, PartialEq)]
pub enum Terminator {
    /// Goes on elsewhere.
    Jump(Edge),
    /// Goes one of two ways; the condition is a `bool`.
    Branch {
        /// The choice.
        condition: Value,
        /// Taken if it is true.
        accept: Edge,
        /// Taken if it is false.
        reject: Edge,
    },
    /// Goes one of several ways; the selector is an integer, and no two cases are equal.
    Switch {
        /// The choice.
        selector: Value,
        /// Values (bits, zero-extended) and where they lead.
        cases: Vec<(u64, Edge)>,
        /// Taken if no case matches.
        default: Edge,
    },
    /// Leaves the function.
    Return(Option<Value>),
    /// Never reached.
    Unreachable,
}

impl Terminator {
    /// The edges, in order: true before false, cases before the default.
    pub fn edges(&self) -> impl Iterator<Item = &Edge> {
        let mut edges = SmallVec::<[&Edge; 4]>::new();
        match self {
            Self::Jump(edge) => edges.push(edge),
            Self::Branch { accept, reject, .. } => edges.extend([accept, reject]),
            Self::Switch { cases, default, .. } => {
                edges.extend(cases.iter().map(|(_, edge)| edge));
                edges.push(default);
            }
            Self::Return(_) | Self::Unreachable => {}
        }
        edges.into_iter()
    }

    /// The edges, to be changed.
    pub fn edges_mut(&mut self) -> impl Iterator<Item = &mut Edge> {
        let mut edges = SmallVec::<[&mut Edge; 4]>::new();
        match self {
            Self::Jump(edge) => edges.push(edge),
            Self::Branch { accept, reject, .. } => edges.extend([accept, reject]),
            Self::Switch { cases, default, .. } => {
                edges.extend(cases.iter_mut().map(|(_, edge)| edge));
                edges.push(default);
            }
            Self::Return(_) | Self::Unreachable => {}
        }
        edges.into_iter()
    }

    /// Calls `f` on each value that is used: condition, selector, result, and the edges' arguments.
    pub fn for_each_operand(&self, mut f: impl FnMut(Value)) {
        match self {
            Self::Branch { condition, .. } => f(*condition),
            Self::Switch { selector, .. } => f(*selector),
            Self::Return(Some(value)) => f(*value),
            Self::Jump(_) | Self::Return(None) | Self::Unreachable => {}
        }
        for edge in self.edges() {
            edge.args.iter().copied().for_each(&mut f);
        }
    }

    /// Calls `f` on each value that is used, to replace it.
    pub fn for_each_operand_mut(&mut self, mut f: impl FnMut(&mut Value)) {
        match self {
            Self::Branch { condition, .. } => f(condition),
            Self::Switch { selector, .. } => f(selector),
            Self::Return(Some(value)) => f(value),
            Self::Jump(_) | Self::Return(None) | Self::Unreachable => {}
        }
        for edge in self.edges_mut() {
            edge.args.iter_mut().for_each(&mut f);
        }
    }
}

/// A basic block.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockData {
    /// Values that each edge to the block brings.
    pub params: SmallVec<[Value; 4]>,
    /// Instructions, in the order they are carried out.
    pub insts: Vec<Value>,
    /// How it ends.
    pub terminator: Terminator,
}

/// A function: a graph of basic blocks over one list of values.
///
/// Every value is defined before it is used: a use in another block is dominated by the definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Type of what it returns.
    pub result: Type,
    /// The entry block. No edge leads to it.
    pub entry: Block,
    /// All values, by [`Value`].
    pub values: Vec<ValueData>,
    /// All blocks, by [`Block`]; those that the entry does not reach are dead.
    pub blocks: Vec<BlockData>,
    /// Names from debug information.
    pub names: HashMap<Value, String>,
    /// Constants that exist already.
    constants: HashMap<(Type, Constant), Value>,
}

impl Function {
    /// A function with an empty entry block.
    pub fn new(name: impl Into<String>, result: Type) -> Self {
        let mut function = Self {
            name: name.into(),
            result,
            entry: Block(0),
            values: Vec::new(),
            blocks: Vec::new(),
            names: HashMap::new(),
            constants: HashMap::new(),
        };
        function.add_block();
        function
    }

    /// A new block, unreachable as yet.
    pub fn add_block(&mut self) -> Block {
        self.blocks.push(BlockData { params: SmallVec::new(), insts: Vec::new(), terminator: Terminator::Unreachable });
        Block(self.blocks.len() as u32 - 1)
    }

    /// A new parameter of a block. The edges to it must bring an argument.
    pub fn add_param(&mut self, block: Block, ty: Type) -> Value {
        let value = self.add_value(ValueDef::Param(block), ty);
        self.blocks[block.index()].params.push(value);
        value
    }

    /// A new value that stands nowhere yet.
    pub fn add_value(&mut self, def: ValueDef, ty: Type) -> Value {
        self.values.push(ValueData { def, ty });
        Value(self.values.len() as u32 - 1)
    }

    /// The constant of these lanes' bits; bits beyond the type's width are dropped.
    pub fn constant(&mut self, ty: Type, lanes: &[u64]) -> Value {
        let mask = match ty.scalar().map_or(0, Scalar::bits) {
            64.. => u64::MAX,
            bits => (1 << bits) - 1,
        };
        let constant = Constant(lanes.iter().map(|lane| lane & mask).collect());
        if let Some(&value) = self.constants.get(&(ty, constant.clone())) {
            return value;
        }
        let value = self.add_value(ValueDef::Constant(constant.clone()), ty);
        self.constants.insert((ty, constant), value);
        value
    }

    /// Zero (false) in every lane.
    pub fn zero(&mut self, ty: Type) -> Value {
        self.constant(ty, &[0; 4][..ty.lanes() as usize])
    }

    /// An `i32`.
    pub fn i32(&mut self, value: u32) -> Value {
        self.constant(Type::I32, &[u64::from(value)])
    }

    /// An `f32`.
    pub fn f32(&mut self, value: f32) -> Value {
        self.constant(Type::F32, &[u64::from(value.to_bits())])
    }

    /// Type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.values[value.index()].ty
    }

    /// The instruction that gives a value, if one does.
    pub fn inst(&self, value: Value) -> Option<&Inst> {
        match &self.values[value.index()].def {
            ValueDef::Inst(inst) => Some(inst),
            _ => None,
        }
    }

    /// The operation that gives a value, if one does.
    pub fn op(&self, value: Value) -> Option<&Op> {
        self.inst(value).map(|inst| &inst.op)
    }

    /// Lanes of a constant, if the value is one.
    pub fn as_constant(&self, value: Value) -> Option<&[u64]> {
        match &self.values[value.index()].def {
            ValueDef::Constant(constant) => Some(&constant.0),
            _ => None,
        }
    }

    /// Bits of a constant of one lane, if the value is one.
    pub fn as_scalar_constant(&self, value: Value) -> Option<u64> {
        match self.as_constant(value)? {
            [bits] => Some(*bits),
            _ => None,
        }
    }

    /// Replaces every use of one value by another, in all blocks.
    ///
    /// Walks the whole function: passes that replace many values collect them and call [`Function::for_each_use_mut`].
    pub fn replace_uses(&mut self, old: Value, new: Value) {
        self.for_each_use_mut(|value| {
            if *value == old {
                *value = new;
            }
        });
    }

    /// Calls `f` on each use of a value by an instruction that stands in a block, or by a terminator.
    pub fn for_each_use(&self, mut f: impl FnMut(Value)) {
        for block in &self.blocks {
            for &inst in &block.insts {
                if let ValueDef::Inst(inst) = &self.values[inst.index()].def {
                    inst.op.for_each_operand(&mut f);
                }
            }
            block.terminator.for_each_operand(&mut f);
        }
    }

    /// Calls `f` on each use of a value by an instruction that stands in a block, or by a terminator, to replace it.
    pub fn for_each_use_mut(&mut self, mut f: impl FnMut(&mut Value)) {
        let Self { blocks, values, .. } = self;
        for block in blocks {
            for &inst in &block.insts {
                if let ValueDef::Inst(inst) = &mut values[inst.index()].def {
                    inst.op.for_each_operand_mut(&mut f);
                }
            }
            block.terminator.for_each_operand_mut(&mut f);
        }
    }

    /// Number of uses of each value.
    pub fn use_counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.values.len()];
        self.for_each_use(|value| counts[value.index()] += 1);
        counts
    }

    /// The instructions that use each value, once for each use. Uses by terminators are not among them.
    pub fn users(&self) -> Vec<SmallVec<[Value; 2]>> {
        let mut users = vec![SmallVec::new(); self.values.len()];
        for &user in self.blocks.iter().flat_map(|block| &block.insts) {
            if let ValueDef::Inst(inst) = &self.values[user.index()].def {
                inst.op.for_each_operand(|value| users[value.index()].push(user));
            }
        }
        users
    }

    /// The block that each value is defined in; none for constants and for values that stand nowhere.
    pub fn definition_blocks(&self) -> Vec<Option<Block>> {
        let mut blocks = vec![None; self.values.len()];
        for (index, block) in self.blocks.iter().enumerate() {
            for value in block.params.iter().chain(&block.insts) {
                blocks[value.index()] = Some(Block(index as u32));
            }
        }
        blocks
    }
}
