//! LLVM modules as DXIL holds them: types, constants, globals, functions and metadata, as plain data.
//!
//! Source of the format: LLVM 3.7, "LLVM Bitcode File Format" and `LLVMBitCodes.h`; what DXIL adds is in
//! DirectXShaderCompiler's `docs/DXIL.rst`.

mod annotation;
mod attribute;
mod constant;
mod instruction;
mod metadata;
mod read;
mod symbol;
mod types;

pub use annotation::{Annotations, Location};
pub use attribute::{Attribute, AttributeList};
pub use constant::{Constant, Expression};
pub use instruction::*;
pub use metadata::{Metadata, MetadataOperand, Node};
pub use symbol::{DllStorage, Linkage, Symbol, Visibility};
pub use types::{HIT_OBJECT_WORDS, Leaf, Type, TypeId, Types};

use std::collections::HashMap;

/// Defines an index into one of the lists of a [`Module`].
macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// Position in its list.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}
use index;

index!(
    /// A value: global, function, constant, argument or instruction. Those of the module come first
    /// ([`Module::values`]), then those of one function ([`Body::values`]).
    ValueId
);
index!(
    /// A global variable.
    GlobalId
);
index!(
    /// A function.
    FunctionId
);
index!(
    /// A basic block of a function.
    BlockId
);
index!(
    /// A metadata string, value or node.
    MetadataId
);

impl ValueId {
    /// No value of any module: an argument that is metadata.
    pub const NONE: Self = Self(u32::MAX);
}

/// An LLVM module.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// All types.
    pub types: Types,
    /// Global variables, functions and constants of the module, by [`ValueId`].
    pub values: Vec<Value>,
    /// Global variables.
    pub globals: Vec<Global>,
    /// Functions, declared or defined.
    pub functions: Vec<Function>,
    /// Metadata, by [`MetadataId`].
    pub metadata: Vec<Metadata>,
    /// Named metadata: `dx.entryPoints` and so on.
    pub named_metadata: Vec<(String, Vec<MetadataId>)>,
    /// Numbers of the kinds of attached metadata: `dx.precise` and so on.
    pub metadata_kinds: HashMap<u32, String>,
    /// Lists of attributes that functions and calls refer to.
    pub attributes: Vec<AttributeList>,
    /// Sizes and alignments of types on the target.
    pub data_layout: String,
    /// Target triple: `dxil-ms-dx`.
    pub triple: String,
}

/// A value and its type.
#[derive(Clone, Debug)]
pub struct Value {
    /// Its type.
    pub ty: TypeId,
    /// What it is.
    pub def: ValueDef,
}

/// What a value is.
#[derive(Clone, Debug)]
pub enum ValueDef {
    /// Address of a global variable.
    Global(GlobalId),
    /// Address of a function.
    Function(FunctionId),
    /// Another name for a value. DXIL has none.
    Alias,
    /// A constant.
    Constant(Constant),
    /// An argument of the function.
    Argument(u32),
    /// Result of an instruction of the function.
    Instruction(u32),
}

/// A global variable.
#[derive(Clone, Debug)]
pub struct Global {
    /// Its name.
    pub name: String,
    /// Type of what it holds.
    pub ty: TypeId,
    /// Address space: 0 thread or constant, 3 group-shared.
    pub space: u32,
    /// It is never written.
    pub constant: bool,
    /// What it holds at first, a constant.
    pub initializer: Option<ValueId>,
    /// What it is to a linker.
    pub symbol: Symbol,
    /// Something else may initialize it.
    pub externally_initialized: bool,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its type, [`Type::Function`].
    pub ty: TypeId,
    /// What it is to a linker.
    pub symbol: Symbol,
    /// Calling convention, in LLVM's numbering; 0 is C's.
    pub convention: u32,
    /// Its attributes: position in [`Module::attributes`].
    pub attributes: Option<u32>,
    /// Its code; `None` for declarations.
    pub body: Option<Body>,
}

/// Code of a function.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// Number of the module's values, which those of the function follow.
    pub first: u32,
    /// Arguments, constants and instructions' results.
    pub values: Vec<Value>,
    /// Instructions of all blocks.
    pub instructions: Vec<Instruction>,
    /// Blocks, as ranges of `instructions`; each ends in a terminator, which stands nowhere else. The first is the
    /// entry.
    pub blocks: Vec<std::ops::Range<u32>>,
    /// What it carries beside its code.
    pub annotations: Annotations,
}

impl Module {
    /// A value as a function sees it; `body` is `None` at module level.
    pub fn value<'a>(&'a self, body: Option<&'a Body>, id: ValueId) -> Option<&'a Value> {
        match body {
            Some(body) if id.0 >= body.first => body.values.get((id.0 - body.first) as usize),
            Some(body) if id.index() >= body.first as usize => None,
            _ => self.values.get(id.index()),
        }
    }

    /// The constant of an id at module level.
    pub fn constant(&self, id: ValueId) -> Option<(TypeId, &Constant)> {
        match self.values.get(id.index())? {
            Value { ty, def: ValueDef::Constant(constant) } => Some((*ty, constant)),
            _ => None,
        }
    }

    /// The one tuple or several tuples of a named metadata; empty if there is none.
    pub fn named(&self, name: &str) -> impl Iterator<Item = Node<'_>> {
        let ids = self.named_metadata.iter().find(|named| named.0 == name).map(|named| &named.1);
        ids.into_iter().flatten().filter_map(|&id| Node::new(self, id))
    }
}
