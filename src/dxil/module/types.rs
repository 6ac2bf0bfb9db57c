//! Types of an LLVM module.

use std::{collections::HashMap, sync::OnceLock};

use super::index;
use crate::{Error, Result};

index!(
    /// A type of a module.
    TypeId
);

/// By-value nesting of types that is read. HLSL's deepest structures stay far below; the limit bounds recursion.
const MAX_DEPTH: u32 = 64;

/// Words that a handle becomes: see `lower::descriptor`.
const HANDLE_WORDS: u32 = 2;

/// Words that a hit object becomes: see `op::hit_object`.
pub const HIT_OBJECT_WORDS: u32 = 49;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// No value.
    Void,
    /// 16-bit float; the minimum precision float unless the module says otherwise.
    Half,
    /// 32-bit float.
    Float,
    /// 64-bit float.
    Double,
    /// Integer of some width in bits.
    Integer(u32),
    /// Address of a value.
    Pointer {
        /// Type of the value.
        pointee: TypeId,
        /// Address space.
        space: u32,
    },
    /// Array.
    Array {
        /// Type of an element.
        element: TypeId,
        /// Number of elements.
        len: u64,
    },
    /// Vector.
    Vector {
        /// Type of an element.
        element: TypeId,
        /// Number of elements.
        len: u32,
    },
    /// Structure.
    Struct {
        /// Its name; `None` if it is its fields and nothing else, empty if it has an identity of its own but no name.
        name: Option<String>,
        /// No padding between fields.
        packed: bool,
        /// Types of its fields.
        fields: Vec<TypeId>,
    },
    /// Structure without known contents.
    Opaque {
        /// Its name.
        name: String,
    },
    /// Function.
    Function {
        /// Type of the result.
        result: TypeId,
        /// Types of the parameters.
        params: Vec<TypeId>,
        /// More arguments may follow.
        variadic: bool,
    },
    /// Basic block, as an operand.
    Label,
    /// Metadata, as an operand.
    Metadata,
    /// Types of other machines, by name: `x86_fp80` and its like.
    Foreign(&'static str),
}

/// What the scalars of a type are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaf {
    /// It has none.
    None,
    /// All of this type.
    Uniform(TypeId),
    /// Of several types.
    Mixed,
}

/// All types of a module.
#[derive(Clone, Debug, Default)]
pub struct Types {
    list: Vec<Type>,
    /// What each type measures.
    measures: Vec<Measure>,
    /// First pointer of a pointee and an address space.
    pointers: HashMap<(TypeId, u32), TypeId>,
    /// First type that equals the key, for all but pointers. It is made for the first who asks: declarations alone intern
    /// nothing but pointers, and keys are copies.
    ids: OnceLock<HashMap<Type, TypeId>>,
}

/// What a type measures.
#[derive(Clone, Copy, Debug)]
struct Measure {
    /// By-value nesting.
    depth: u32,
    /// Number of scalars.
    scalars: u64,
    /// Number of 32-bit words that hold the scalars, 2 for those of 64 bits and 1 for all others.
    words: u64,
    /// What the scalars are.
    leaf: Leaf,
}

impl Types {
    /// A type.
    pub fn get(&self, id: TypeId) -> Option<&Type> {
        self.list.get(id.index())
    }

    /// Number of types.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Every type with its id.
    pub fn iter(&self) -> impl Iterator<Item = (TypeId, &Type)> {
        self.list.iter().enumerate().map(|(index, ty)| (TypeId(index as u32), ty))
    }

    /// Appends a type. What it contains by value must be there already, so that no type contains itself.
    pub(super) fn push(&mut self, ty: Type) -> Result<TypeId> {
        let depth_of = |id: &TypeId| {
            let depth = self.measures.get(id.index()).map(|measure| measure.depth);
            depth.ok_or_else(|| Error::malformed(format!("type contains a later one: {}", id.0)))
        };
        let inner = match &ty {
            Type::Array { element, .. } | Type::Vector { element, .. } => depth_of(element)?,
            Type::Struct { fields, .. } => {
                fields.iter().try_fold(0, |deepest, field| Ok::<_, Error>(depth_of(field)?.max(deepest)))?
            }
            _ => 0,
        };
        if inner >= MAX_DEPTH {
            return Err(Error::malformed("types are nested too deep"));
        }
        let id = TypeId(self.list.len() as u32);
        // Sums over what a type contains.
        let sum = |of: &dyn Fn(TypeId) -> u64, single: u64| match &ty {
            Type::Array { element, len } => len.saturating_mul(of(*element)),
            Type::Vector { element, len } => u64::from(*len).saturating_mul(of(*element)),
            ty if ty.opaque_words().is_some() => ty.opaque_words().map_or(0, u64::from),
            Type::Struct { fields, .. } => fields.iter().fold(0u64, |sum, field| sum.saturating_add(of(*field))),
            Type::Void | Type::Label | Type::Metadata => 0,
            _ => single,
        };
        let scalars = sum(&|id| self.scalars(id), 1);
        let words = sum(&|id| self.words(id), if matches!(ty, Type::Double | Type::Integer(64)) { 2 } else { 1 });
        let leaf = match &ty {
            Type::Array { element, .. } | Type::Vector { element, .. } => self.leaf(*element),
            ty if ty.opaque_words().is_some() => Leaf::Uniform(id),
            Type::Struct { fields, .. } => {
                fields.iter().fold(Leaf::None, |leaf, field| match (leaf, self.leaf(*field)) {
                    (leaf, Leaf::None) | (Leaf::None, leaf) => leaf,
                    (Leaf::Uniform(a), Leaf::Uniform(b)) if self.get(a) == self.get(b) => Leaf::Uniform(a),
                    _ => Leaf::Mixed,
                })
            }
            Type::Void | Type::Label | Type::Metadata => Leaf::None,
            _ => Leaf::Uniform(id),
        };
        self.measures.push(Measure { depth: inner + 1, scalars, words, leaf });
        if let Type::Pointer { pointee, space } = ty {
            self.pointers.entry((pointee, space)).or_insert(id);
        } else if let Some(ids) = self.ids.get_mut() {
            ids.entry(ty.clone()).or_insert(id);
        }
        self.list.push(ty);
        Ok(id)
    }

    /// The id of a type, appended if it is new.
    pub(super) fn intern(&mut self, ty: Type) -> Result<TypeId> {
        match self.first(&ty) {
            Some(id) => Ok(id),
            None => self.push(ty),
        }
    }

    /// The first type that equals one.
    fn first(&self, ty: &Type) -> Option<TypeId> {
        if let Type::Pointer { pointee, space } = ty {
            return self.pointers.get(&(*pointee, *space)).copied();
        }
        let ids = self.ids.get_or_init(|| {
            let mut ids = HashMap::with_capacity(self.list.len());
            for (id, ty) in self.iter().filter(|(_, ty)| !matches!(ty, Type::Pointer { .. })) {
                ids.entry(ty.clone()).or_insert(id);
            }
            ids
        });
        ids.get(ty).copied()
    }

    /// The first type that equals another.
    pub fn canonical(&self, id: TypeId) -> TypeId {
        self.get(id).and_then(|ty| self.first(ty)).unwrap_or(id)
    }

    /// What a pointer points to.
    pub fn pointee(&self, pointer: TypeId) -> Option<TypeId> {
        match self.get(pointer)? {
            Type::Pointer { pointee, .. } => Some(*pointee),
            _ => None,
        }
    }

    /// Type of an array's or vector's element, or of a structure's field.
    pub fn element(&self, aggregate: TypeId, index: u64) -> Option<TypeId> {
        match self.get(aggregate)? {
            Type::Array { element, .. } | Type::Vector { element, .. } => Some(*element),
            Type::Struct { fields, .. } => fields.get(usize::try_from(index).ok()?).copied(),
            _ => None,
        }
    }

    /// Number of scalars in a value of the type, nested ones counted; pointers count as one.
    pub fn scalars(&self, id: TypeId) -> u64 {
        self.measures.get(id.index()).map_or(0, |measure| measure.scalars)
    }

    /// Number of 32-bit words that hold a value of the type, if each scalar has words of its own.
    pub fn words(&self, id: TypeId) -> u64 {
        self.measures.get(id.index()).map_or(0, |measure| measure.words)
    }

    /// What the scalars of a type are.
    pub fn leaf(&self, id: TypeId) -> Leaf {
        self.measures.get(id.index()).map_or(Leaf::None, |measure| measure.leaf)
    }
}

impl Type {
    /// It is the structure that stands for a resource, `%dx.types.Handle`.
    pub fn is_handle(&self) -> bool {
        matches!(self, Type::Struct { name: Some(name), .. } if name == "dx.types.Handle")
    }

    /// Number of `i32`s that the lift makes of one of DXIL's own structures, if it is one: handles of resources, a work
    /// graph's outputs and records, which are addresses, and hit objects.
    pub fn opaque_words(&self) -> Option<u32> {
        let Type::Struct { name: Some(name), .. } = self else { return None };
        match name.as_str() {
            "dx.types.Handle" => Some(HANDLE_WORDS),
            "dx.types.NodeHandle" | "dx.types.NodeRecordHandle" => Some(1),
            "dx.types.HitObject" => Some(HIT_OBJECT_WORDS),
            _ => None,
        }
    }

    /// It is a float.
    pub fn is_float(&self) -> bool {
        matches!(self, Type::Half | Type::Float | Type::Double)
    }
}
