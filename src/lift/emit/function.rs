//! What each function has.

use std::collections::HashMap;

use naga::{Block, Function, Scalar, ScalarKind};

use super::{ModuleEmitter, expression::Expr, io::IoState, plan::Plan, ray_query::RayQueryLocals, types};
use crate::{
    Error, Result,
    ir::{self, Value, ValueDef},
    reflection::{EntryPointInterface, Stage},
};

/// A naga function in the making.
pub(super) struct FunctionEmitter<'m, 'a> {
    /// The module it is for.
    pub module: &'m mut ModuleEmitter<'a>,
    /// Which function of the program is emitted.
    pub id: ir::FunctionId,
    /// The function itself.
    pub ir: &'a ir::Function,
    /// The function so far.
    pub function: Function,
    /// The innermost block, to which statements are appended.
    pub block: Block,
    /// Values that were emitted and are in scope, by [`Value`].
    pub values: Vec<Option<Emission>>,
    /// Values as the kind that is not their own, where they were cast and the cast is in scope.
    pub casts: Vec<Option<Emission>>,
    /// What was given or cast, in order: that of an inner block goes out of scope with it.
    pub scope: Vec<Scoped>,
    /// What was decided on the values before emission.
    pub plan: Plan,
    /// Local variables of values: of block parameters, and of values that are used outside their scope.
    pub locals: HashMap<Value, Expr>,
    /// Constants that need no place.
    pub constants: HashMap<(Value, ScalarKind), Expr>,
    /// Local variables of the tree's flags.
    pub flags: Vec<Expr>,
    /// Local variables of ray queries, by number.
    pub ray_queries: HashMap<u32, RayQueryLocals>,
    /// Local variables of the program's variables that live in this function alone.
    pub variables: HashMap<ir::VariableId, Expr>,
    /// Pointer to the `bool` that says whether the lane was not discarded, where a discarded lane goes on.
    pub alive: Option<Expr>,
    /// Stage that the function runs in.
    pub stage: Stage,
    /// The entry point that the function is, if it is one.
    pub entry: Option<&'a EntryPointInterface>,
    /// Its stage interface.
    pub io: IoState,
    /// The entry point's thread group is declared as (x*y*z, 1, 1): naga has the lane index in flat groups only. Thread
    /// ids then come from the index within the group.
    pub flattened: bool,
    /// With `flattened`: each four consecutive lanes are a block of 2 by 2 threads, for derivatives in compute shaders.
    pub quads: bool,
}

/// A value of the IR as an expression. The kind tells the sign that an integer was given.
///
/// 16-bit integers stand in 32 bits, zero-extended if their kind is `Uint` and sign-extended if it is `Sint`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Emission {
    /// The expression.
    pub expr: Expr,
    /// Kind of its scalars.
    pub kind: ScalarKind,
}

impl Emission {
    /// An unsigned integer.
    pub fn uint(expr: Expr) -> Self {
        Self { expr, kind: ScalarKind::Uint }
    }

    /// A signed integer.
    pub fn sint(expr: Expr) -> Self {
        Self { expr, kind: ScalarKind::Sint }
    }

    /// A float.
    pub fn float(expr: Expr) -> Self {
        Self { expr, kind: ScalarKind::Float }
    }

    /// A `bool`.
    pub fn bool(expr: Expr) -> Self {
        Self { expr, kind: ScalarKind::Bool }
    }
}

/// What goes out of scope with the block that it was emitted in.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scoped {
    /// A value, with what it was cast to.
    Value(Value),
    /// What a value was cast to: the value itself may belong to an outer block.
    Cast(Value),
}

/// A type in naga's terms: a number, or a vector of some.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    /// Type of a lane.
    pub scalar: Scalar,
    /// Number of lanes, 1 to 4.
    pub lanes: u8,
}

impl Shape {
    /// As many lanes of another scalar.
    pub fn with_scalar(self, scalar: Scalar) -> Self {
        Self { scalar, ..self }
    }
}

impl<'a> FunctionEmitter<'_, 'a> {
    /// A value, as whatever kind it has.
    ///
    /// # Errors
    /// It was not emitted: a bug.
    pub fn get(&mut self, value: Value) -> Result<Emission> {
        if let Some(emission) = self.values[value.index()] {
            return Ok(emission);
        }
        if let ValueDef::Constant(_) = self.ir.values[value.index()].def {
            let kind = self.kind_of(value);
            return Ok(Emission { expr: self.constant(value, kind)?, kind });
        }
        if let Some(&local) = self.locals.get(&value) {
            let expr = self.load(local);
            let emission = Emission { expr, kind: self.kind_of(value) };
            self.set(value, emission);
            return Ok(emission);
        }
        Err(Error::internal(format!("value used before its definition: {value:?}")))
    }

    /// A value as a kind: integers are cast to the other sign, bit by bit.
    ///
    /// # Errors
    /// As for [`FunctionEmitter::get`].
    pub fn get_as(&mut self, value: Value, kind: ScalarKind) -> Result<Expr> {
        if let ValueDef::Constant(_) = self.ir.values[value.index()].def {
            return self.constant(value, kind);
        }
        let emission = self.get(value)?;
        if emission.kind == kind {
            return Ok(emission.expr);
        }
        if let Some(cast) = self.casts[value.index()]
            && cast.kind == kind
        {
            return Ok(cast.expr);
        }
        let expr = self.cast(emission, self.ir.ty(value), kind);
        self.casts[value.index()] = Some(Emission { expr, kind });
        self.scope.push(Scoped::Cast(value));
        Ok(expr)
    }

    /// An integer as the other sign; anything else as the same bits of another kind.
    pub fn cast(&mut self, emission: Emission, ty: ir::Type, kind: ScalarKind) -> Expr {
        if emission.kind == kind {
            return emission.expr;
        }
        if ty.scalar() == Some(ir::Scalar::I16) {
            return self.wrap16(emission, ty.lanes(), kind);
        }
        let width = ty.scalar().map_or(4, |scalar| scalar.bytes() as u8);
        let is_int = |kind| matches!(kind, ScalarKind::Sint | ScalarKind::Uint);
        let convert = (is_int(emission.kind) && is_int(kind)).then_some(width);
        self.val(naga::Expression::As { expr: emission.expr, kind, convert })
    }

    /// Makes an expression the value's, from here on to the end of the block.
    pub fn set(&mut self, value: Value, emission: Emission) {
        self.values[value.index()] = Some(emission);
        self.casts[value.index()] = None;
        self.scope.push(Scoped::Value(value));
    }

    /// Defines a value: names it, and stores it where uses outside its scope will find it.
    pub fn define(&mut self, value: Value, emission: Emission) {
        self.set(value, emission);
        if let Some(name) = self.ir.names.get(&value)
            && !self.function.expressions[emission.expr].needs_pre_emit()
        {
            self.function.named_expressions.insert(emission.expr, name.clone());
        }
        if let Some(&local) = self.locals.get(&value) {
            let stored = self.cast(emission, self.ir.ty(value), self.kind_of(value));
            self.store(local, stored);
        }
    }

    /// Kind that was chosen for a value.
    pub fn kind_of(&self, value: Value) -> ScalarKind {
        self.plan.kinds[value.index()]
    }

    /// Type of a value of the IR as naga has it, integers being of a kind.
    pub fn shape(&self, ty: ir::Type, kind: ScalarKind) -> Shape {
        let scalar = types::scalar(ty.scalar().unwrap_or(ir::Scalar::I32), kind);
        Shape { scalar, lanes: ty.lanes().max(1) }
    }

    /// Type of a value as naga has it, with the kind that was chosen for it.
    pub fn value_type(&mut self, value: Value) -> naga::Handle<naga::Type> {
        let shape = self.shape(self.ir.ty(value), self.kind_of(value));
        self.module.numeric(shape.scalar, shape.lanes)
    }
}
