//! The vocabulary in which the rest of the emitter speaks: expressions at their place, literals, locals, conditions.

use naga::{
    BinaryOperator, Block, Expression, Handle, Literal, LocalVariable, MathFunction, Scalar, ScalarKind, Span,
    Statement, Type, UnaryOperator,
};

use super::{
    FunctionEmitter,
    function::{Scoped, Shape},
};

/// An expression of the function in the making.
pub(super) type Expr = Handle<Expression>;

impl FunctionEmitter<'_, '_> {
    /// Appends an expression that is never emitted: a literal, a constant, a zero value, an argument, a global or local
    /// variable, a result of a call or an atomic.
    pub fn pre(&mut self, expression: Expression) -> Expr {
        self.function.expressions.append(expression, Span::UNDEFINED)
    }

    /// Appends any other expression, and evaluates it here.
    pub fn val(&mut self, expression: Expression) -> Expr {
        let before = self.function.expressions.len();
        let handle = self.function.expressions.append(expression, Span::UNDEFINED);
        let range = self.function.expressions.range_from(before);
        self.statement(Statement::Emit(range));
        handle
    }

    /// Appends a statement here, unless the block was left already.
    pub fn statement(&mut self, statement: Statement) {
        if !self.is_left() {
            self.block.push(statement, Span::UNDEFINED);
        }
    }

    /// The innermost block ends in a statement that leaves it: nothing can follow.
    pub fn is_left(&self) -> bool {
        matches!(
            self.block.last(),
            Some(Statement::Break | Statement::Continue | Statement::Return { .. } | Statement::Kill)
        )
    }

    /// Carries out `body` in a block of its own, and returns the block. What was emitted in it is out of scope then.
    pub fn nested<E>(&mut self, body: impl FnOnce(&mut Self) -> Result<(), E>) -> Result<Block, E> {
        let outer = std::mem::take(&mut self.block);
        let scope = self.scope.len();
        let result = body(self);
        for scoped in self.scope.drain(scope..) {
            let (Scoped::Value(value) | Scoped::Cast(value)) = scoped;
            self.casts[value.index()] = None;
            if let Scoped::Value(_) = scoped {
                self.values[value.index()] = None;
            }
        }
        let inner = std::mem::replace(&mut self.block, outer);
        result.map(|()| inner)
    }

    /// Carries out `body` only where the condition holds.
    pub fn when(&mut self, condition: Expr, body: impl FnOnce(&mut Self)) {
        let accept = self.inner_block(body);
        self.statement(Statement::If { condition, accept, reject: Block::new() });
    }

    /// Emits into a block of its own, what cannot fail.
    pub fn inner_block(&mut self, body: impl FnOnce(&mut Self)) -> Block {
        let block = self.nested(|emitter| {
            body(emitter);
            Ok::<(), std::convert::Infallible>(())
        });
        match block {
            Ok(block) => block,
            Err(never) => match never {},
        }
    }

    /// What `body` gives where the condition holds, zero elsewhere: for what must not be evaluated unconditionally.
    ///
    /// # Errors
    /// Those of `body`.
    pub fn value_when<E>(
        &mut self,
        condition: Expr,
        shape: Shape,
        body: impl FnOnce(&mut Self) -> Result<Expr, E>,
    ) -> Result<Expr, E> {
        let ty = self.module.numeric(shape.scalar, shape.lanes);
        let result = self.local(ty, None);
        let zero = self.zero_of(shape);
        self.store(result, zero);
        let accept = self.nested(|emitter| {
            let value = body(emitter)?;
            emitter.store(result, value);
            Ok(())
        })?;
        self.statement(Statement::If { condition, accept, reject: Block::new() });
        Ok(self.load(result))
    }

    /// A literal of a scalar type, from its bits. Floats must be finite: see [`FunctionEmitter::bits`].
    pub fn literal(&mut self, scalar: Scalar, bits: u64) -> Expr {
        match literal(scalar, bits) {
            Some(literal) => self.pre(Expression::Literal(literal)),
            None => self.bits(scalar, bits),
        }
    }

    /// A float of any bits: naga has no literals for NaN and infinities, they come from integers.
    fn bits(&mut self, scalar: Scalar, bits: u64) -> Expr {
        match scalar.width {
            // There are no 16-bit integers to cast from.
            2 => {
                let packed = self.u32(bits as u32);
                let pair = self.math(MathFunction::Unpack2x16float, &[packed]);
                let wide = self.val(Expression::AccessIndex { base: pair, index: 0 });
                self.val(Expression::As { expr: wide, kind: ScalarKind::Float, convert: Some(2) })
            }
            width => {
                let expr = self.literal(Scalar { kind: ScalarKind::Uint, width }, bits);
                self.val(Expression::As { expr, kind: ScalarKind::Float, convert: None })
            }
        }
    }

    /// A literal in every lane.
    pub fn splat_literal(&mut self, shape: Shape, bits: u64) -> Expr {
        let value = self.literal(shape.scalar, bits);
        self.splat_to(value, shape.lanes)
    }

    /// A float in every lane, rounded to the lanes' width.
    pub fn splat_float(&mut self, shape: Shape, value: f64) -> Expr {
        let bits = match shape.scalar.width {
            2 => u64::from(half::f16::from_f64(value).to_bits()),
            4 => u64::from((value as f32).to_bits()),
            _ => value.to_bits(),
        };
        self.splat_literal(shape, bits)
    }

    /// A `u32` literal.
    pub fn u32(&mut self, value: u32) -> Expr {
        self.pre(Expression::Literal(Literal::U32(value)))
    }

    /// An `i32` literal.
    pub fn i32(&mut self, value: i32) -> Expr {
        self.pre(Expression::Literal(Literal::I32(value)))
    }

    /// An `f32`, of any bits.
    pub fn f32(&mut self, value: f32) -> Expr {
        self.literal(Scalar::F32, u64::from(value.to_bits()))
    }

    /// A `bool` literal.
    pub fn bool(&mut self, value: bool) -> Expr {
        self.pre(Expression::Literal(Literal::Bool(value)))
    }

    /// A zero of any type.
    pub fn zero(&mut self, ty: Handle<Type>) -> Expr {
        self.pre(Expression::ZeroValue(ty))
    }

    /// A zero (or false) of a shape.
    pub fn zero_of(&mut self, shape: Shape) -> Expr {
        match shape.lanes {
            1 => self.literal(shape.scalar, 0),
            lanes => {
                let ty = self.module.numeric(shape.scalar, lanes);
                self.zero(ty)
            }
        }
    }

    /// 1 of 32 bits: what a texel's alpha is where the format has none.
    pub fn one(&mut self, kind: ScalarKind) -> Expr {
        match kind {
            ScalarKind::Float => self.f32(1.0),
            _ => self.literal(Scalar { kind, width: 4 }, 1),
        }
    }

    /// Two operands.
    pub fn binary(&mut self, op: BinaryOperator, left: Expr, right: Expr) -> Expr {
        self.val(Expression::Binary { op, left, right })
    }

    /// One operand.
    pub fn unary(&mut self, op: UnaryOperator, expr: Expr) -> Expr {
        self.val(Expression::Unary { op, expr })
    }

    /// A function of one to four operands.
    pub fn math(&mut self, fun: MathFunction, args: &[Expr]) -> Expr {
        let arg = |index: usize| args.get(index).copied();
        self.val(Expression::Math { fun, arg: args[0], arg1: arg(1), arg2: arg(2), arg3: arg(3) })
    }

    /// A choice.
    pub fn select(&mut self, condition: Expr, accept: Expr, reject: Expr) -> Expr {
        self.val(Expression::Select { condition, accept, reject })
    }

    /// Conversion by value to another kind, or the same kind of another width in bytes.
    pub fn convert(&mut self, expr: Expr, to: Scalar) -> Expr {
        self.val(Expression::As { expr, kind: to.kind, convert: Some(to.width) })
    }

    /// The same bits as another kind.
    pub fn bitcast(&mut self, expr: Expr, kind: ScalarKind) -> Expr {
        self.val(Expression::As { expr, kind, convert: None })
    }

    /// Applies a scalar lowering to each lane: `f` gets the lanes of the operands, and gives the lane of the result,
    /// which is of type `to`.
    pub fn lanewise(
        &mut self,
        lanes: u8,
        to: Scalar,
        operands: &[Expr],
        mut f: impl FnMut(&mut Self, &[Expr]) -> Expr,
    ) -> Expr {
        let results: Vec<Expr> = (0..lanes)
            .map(|lane| {
                let scalars: Vec<Expr> = operands.iter().map(|&operand| self.lane(operand, lanes, lane)).collect();
                f(self, &scalars)
            })
            .collect();
        self.vector_of(to, &results)
    }

    /// Pointer to a new local variable, zero at the function's beginning.
    pub fn local(&mut self, ty: Handle<Type>, name: Option<String>) -> Expr {
        let local = self.function.local_variables.append(LocalVariable { name, ty, init: None }, Span::UNDEFINED);
        self.pre(Expression::LocalVariable(local))
    }

    /// Reads through a pointer, here.
    pub fn load(&mut self, pointer: Expr) -> Expr {
        self.val(Expression::Load { pointer })
    }

    /// Writes through a pointer, here.
    pub fn store(&mut self, pointer: Expr, value: Expr) {
        self.statement(Statement::Store { pointer, value });
    }
}

/// A literal from its bits; `None` for floats that are not finite, which naga does not take.
pub(super) fn literal(scalar: Scalar, bits: u64) -> Option<Literal> {
    Some(match (scalar.kind, scalar.width) {
        (ScalarKind::Bool, _) => Literal::Bool(bits != 0),
        (ScalarKind::Sint, 8) => Literal::I64(bits as i64),
        (ScalarKind::Uint, 8) => Literal::U64(bits),
        (ScalarKind::Sint, _) => Literal::I32(bits as u32 as i32),
        (ScalarKind::Uint, _) => Literal::U32(bits as u32),
        (_, 2) => Literal::F16(Some(half::f16::from_bits(bits as u16)).filter(|value| value.is_finite())?),
        (_, 8) => Literal::F64(Some(f64::from_bits(bits)).filter(|value| value.is_finite())?),
        _ => Literal::F32(Some(f32::from_bits(bits as u32)).filter(|value| value.is_finite())?),
    })
}
