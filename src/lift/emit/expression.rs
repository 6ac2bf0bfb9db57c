//! The vocabulary in which the rest of the emitter speaks: expressions at their place, literals, locals, conditions.

use naga::{BinaryOperator, Block, Expression, Handle, Literal, LocalVariable, Span, Statement, Type, UnaryOperator};

use super::FunctionEmitter;

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

    /// Appends a statement here.
    pub fn statement(&mut self, statement: Statement) {
        self.block.push(statement, Span::UNDEFINED);
    }

    /// Carries out `body` in a block of its own, and returns the block.
    pub fn nested<E>(&mut self, body: impl FnOnce(&mut Self) -> Result<(), E>) -> Result<Block, E> {
        let outer = std::mem::take(&mut self.block);
        let result = body(self);
        let inner = std::mem::replace(&mut self.block, outer);
        result.map(|()| inner)
    }

    /// Carries out `body` only where the condition holds.
    pub fn when(&mut self, condition: Expr, body: impl FnOnce(&mut Self)) {
        let accept = match self.nested(|emitter| {
            body(emitter);
            Ok::<(), std::convert::Infallible>(())
        }) {
            Ok(block) => block,
            Err(never) => match never {},
        };
        self.statement(Statement::If { condition, accept, reject: Block::new() });
    }

    /// A `u32` literal.
    pub fn u32(&mut self, value: u32) -> Expr {
        self.pre(Expression::Literal(Literal::U32(value)))
    }

    /// An `i32` literal.
    pub fn i32(&mut self, value: i32) -> Expr {
        self.pre(Expression::Literal(Literal::I32(value)))
    }

    /// An `f32`: naga has no literals for NaN and infinities, they come from their bits.
    pub fn f32(&mut self, value: f32) -> Expr {
        if value.is_finite() {
            return self.pre(Expression::Literal(Literal::F32(value)));
        }
        let bits = self.u32(value.to_bits());
        self.val(Expression::As { expr: bits, kind: naga::ScalarKind::Float, convert: None })
    }

    /// A zero of any type.
    pub fn zero(&mut self, ty: Handle<Type>) -> Expr {
        self.pre(Expression::ZeroValue(ty))
    }

    /// Two operands.
    pub fn binary(&mut self, op: BinaryOperator, left: Expr, right: Expr) -> Expr {
        self.val(Expression::Binary { op, left, right })
    }

    /// One operand.
    pub fn unary(&mut self, op: UnaryOperator, expr: Expr) -> Expr {
        self.val(Expression::Unary { op, expr })
    }

    /// A choice.
    pub fn select(&mut self, condition: Expr, accept: Expr, reject: Expr) -> Expr {
        self.val(Expression::Select { condition, accept, reject })
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
