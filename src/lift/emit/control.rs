//! Control flow: the structured tree as naga's blocks and statements.

use naga::{Block, Expression, Literal, Scalar, ScalarKind, Statement, SwitchCase, SwitchValue, UnaryOperator};

use super::{Emission, FunctionEmitter, expression::Expr, sign::signature_kind};
use crate::{
    Error, Result,
    ir::{self, Effect, Value},
    lift::structure::{Condition, Node, Tree},
};

impl FunctionEmitter<'_, '_> {
    /// Emits a function's body from its tree.
    ///
    /// # Errors
    /// Names the construct that has no lowering, and its place.
    pub fn body(&mut self, tree: &Tree) -> Result<()> {
        let bool_type = self.module.numeric(Scalar::BOOL, 1);
        self.flags = (0..tree.flags).map(|index| self.local(bool_type, Some(format!("flag_{index}")))).collect();
        self.declare_value_locals()?;
        self.nodes(&tree.body)?;
        // A body that ends returns anyway.
        if let Some(Statement::Return { value: None }) = self.block.last() {
            let last = self.block.len() - 1;
            self.block.cull(last..);
        }
        Ok(())
    }

    /// Local variables for the parameters of blocks, and for values that are used out of their scope.
    fn declare_value_locals(&mut self) -> Result<()> {
        let ir = self.ir;
        for index in 0..ir.values.len() {
            let value = Value(index as u32);
            let is_local = match &ir.values[index].def {
                ir::ValueDef::Param(block) => *block != ir.entry && self.plan.is_used(value),
                ir::ValueDef::Inst(inst) => self.plan.escapes[index] && !matches!(inst.op, ir::Op::Handle { .. }),
                ir::ValueDef::Constant(_) | ir::ValueDef::Removed => false,
            };
            if !is_local {
                continue;
            }
            if ir.ty(value).scalar().is_none() {
                return Err(Error::unsupported("resource chosen by control flow"));
            }
            let ty = self.value_type(value);
            let local = self.local(ty, ir.names.get(&value).cloned());
            self.locals.insert(value, local);
        }
        Ok(())
    }

    fn nodes(&mut self, nodes: &[Node]) -> Result<()> {
        for node in nodes {
            if self.is_left() {
                break;
            }
            match node {
                Node::Block(block) => self.basic_block(*block)?,
                Node::Assign { block, args } => self.assign(*block, args)?,
                Node::SetFlag(flag, value) => {
                    let pointer = self.flag(*flag)?;
                    let value = self.bool(*value);
                    self.store(pointer, value);
                }
                Node::If { condition, accept, reject } => {
                    let condition = match condition {
                        Condition::Value(value) => self.get_as(*value, ScalarKind::Bool)?,
                        Condition::Flag(flag) => {
                            let pointer = self.flag(*flag)?;
                            self.load(pointer)
                        }
                    };
                    self.if_else(condition, accept, reject)?;
                }
                Node::Switch { selector, cases, default } => self.switch(*selector, cases, default)?,
                Node::Loop(body) => {
                    let body = self.nested(|emitter| emitter.nodes(body))?;
                    self.statement(Statement::Loop { body, continuing: Block::new(), break_if: None });
                }
                Node::Breakable(body) => {
                    let body = self.nested(|emitter| emitter.nodes(body))?;
                    self.breakable(body);
                }
                Node::Break => self.statement(Statement::Break),
                Node::Continue => self.statement(Statement::Continue),
                Node::Return(value) => self.return_value(*value)?,
                Node::Unreachable => self.return_value(None)?,
            }
        }
        Ok(())
    }

    fn flag(&self, flag: crate::lift::structure::Flag) -> Result<Expr> {
        self.flags.get(flag.0 as usize).copied().ok_or_else(|| Error::internal("flag that the tree does not count"))
    }

    fn if_else(&mut self, condition: Expr, accept: &[Node], reject: &[Node]) -> Result<()> {
        let accept = self.nested(|emitter| emitter.nodes(accept))?;
        let reject = self.nested(|emitter| emitter.nodes(reject))?;
        if accept.is_empty() && !reject.is_empty() {
            let condition = self.unary(UnaryOperator::LogicalNot, condition);
            self.statement(Statement::If { condition, accept: reject, reject: Block::new() });
        } else if !accept.is_empty() {
            self.statement(Statement::If { condition, accept, reject });
        }
        Ok(())
    }

    /// A block that `Break` leaves. `Continue` in it still means the loop around it.
    fn breakable(&mut self, body: Block) {
        let selector = self.i32(0);
        let case = SwitchCase { value: SwitchValue::Default, body, fall_through: false };
        self.statement(Statement::Switch { selector, cases: vec![case] });
    }

    fn switch(&mut self, selector: Value, cases: &[(Vec<u64>, Vec<Node>)], default: &[Node]) -> Result<()> {
        if self.ir.ty(selector).scalar() == Some(ir::Scalar::I64) {
            return self.wide_switch(selector, cases, default);
        }
        let emission = self.get(selector)?;
        let narrow = self.ir.ty(selector).scalar() == Some(ir::Scalar::I16);
        let mut lowered = Vec::new();
        for (values, body) in cases {
            let body = self.nested(|emitter| emitter.nodes(body))?;
            let Some((last, others)) = values.split_last() else { continue };
            let case = |bits: u64| match emission.kind {
                ScalarKind::Sint if narrow => SwitchValue::I32(i32::from(bits as u16 as i16)),
                ScalarKind::Sint => SwitchValue::I32(bits as u32 as i32),
                _ => SwitchValue::U32(bits as u32),
            };
            // Empty cases that fall through are how naga says several values of one case.
            for &bits in others {
                lowered.push(SwitchCase { value: case(bits), body: Block::new(), fall_through: true });
            }
            lowered.push(SwitchCase { value: case(*last), body, fall_through: false });
        }
        let body = self.nested(|emitter| emitter.nodes(default))?;
        lowered.push(SwitchCase { value: SwitchValue::Default, body, fall_through: false });
        self.statement(Statement::Switch { selector: emission.expr, cases: lowered });
        Ok(())
    }

    /// naga switches over 32 bits: a 64-bit selector becomes a chain of choices in a breakable block.
    fn wide_switch(&mut self, selector: Value, cases: &[(Vec<u64>, Vec<Node>)], default: &[Node]) -> Result<()> {
        let selector = self.get_as(selector, ScalarKind::Uint)?;
        let body = self.nested(|emitter| emitter.wide_cases(selector, cases, default))?;
        self.breakable(body);
        Ok(())
    }

    fn wide_cases(&mut self, selector: Expr, cases: &[(Vec<u64>, Vec<Node>)], default: &[Node]) -> Result<()> {
        for (values, body) in cases {
            let mut condition = None;
            for &bits in values {
                let value = self.pre(Expression::Literal(Literal::U64(bits)));
                let equal = self.binary(naga::BinaryOperator::Equal, selector, value);
                condition = Some(match condition {
                    Some(earlier) => self.binary(naga::BinaryOperator::InclusiveOr, earlier, equal),
                    None => equal,
                });
            }
            let Some(condition) = condition else { continue };
            let accept = self.nested(|emitter| {
                emitter.nodes(body)?;
                emitter.statement(Statement::Break);
                Ok::<(), Error>(())
            })?;
            self.statement(Statement::If { condition, accept, reject: Block::new() });
        }
        self.nodes(default)
    }

    fn basic_block(&mut self, block: ir::Block) -> Result<()> {
        let ir = self.ir;
        let data = &ir.blocks[block.index()];
        for &param in &data.params {
            if let Some(&local) = self.locals.get(&param) {
                let expr = self.load(local);
                self.set(param, Emission { expr, kind: self.kind_of(param) });
            }
        }
        for &value in &data.insts {
            self.instruction(value)?;
        }
        Ok(())
    }

    /// Gives a block's parameters their arguments: all are read before one is written.
    fn assign(&mut self, block: ir::Block, args: &[Value]) -> Result<()> {
        let ir = self.ir;
        let params = &ir.blocks[block.index()].params;
        let mut stores = Vec::new();
        for (&param, &arg) in params.iter().zip(args) {
            if param != arg
                && let Some(&local) = self.locals.get(&param)
            {
                stores.push((local, self.get_as(arg, self.kind_of(param))?));
            }
        }
        for (pointer, value) in stores {
            self.store(pointer, value);
        }
        Ok(())
    }

    fn return_value(&mut self, value: Option<Value>) -> Result<()> {
        let value = if self.entry.is_some() {
            self.kill_discarded();
            self.finish_entry()?
        } else {
            match value {
                Some(value) => Some(self.get_as(value, signature_kind(self.ir.result))?),
                None if self.ir.result != ir::Type::Void => {
                    let shape = self.shape(self.ir.result, signature_kind(self.ir.result));
                    Some(self.zero_of(shape))
                }
                None => None,
            }
        };
        self.statement(Statement::Return { value });
        Ok(())
    }

    /// Emits an instruction, if it is used or has an effect.
    fn instruction(&mut self, value: Value) -> Result<()> {
        let ir = self.ir;
        let Some(inst) = ir.inst(value) else {
            return Err(Error::internal(format!("value in a block is no instruction: {value:?}")));
        };
        if inst.op.effect() < Effect::Write && !self.plan.is_used(value) || self.plan.factors.contains_key(&value) {
            return Ok(());
        }
        let emission = self.effect(value, &inst.op, ir.ty(value), inst.precise);
        let emission = emission.map_err(|error| error.at_instruction(inst.origin).in_function(&*ir.name))?;
        if let Some(emission) = emission {
            self.define(value, emission);
        }
        Ok(())
    }

    /// Emits an operation; where discarded lanes go on, without its effects for them.
    fn effect(&mut self, value: Value, op: &ir::Op, ty: ir::Type, precise: bool) -> Result<Option<Emission>> {
        let writes = matches!(
            op,
            ir::Op::StoreBuffer { .. }
                | ir::Op::AtomicBuffer { .. }
                | ir::Op::UpdateCounter { .. }
                | ir::Op::StoreTexture { .. }
                | ir::Op::AtomicTexture { .. }
        );
        let Some(alive) = self.alive.filter(|_| writes) else {
            return self.operation(value, op, ty, precise);
        };
        let condition = self.load(alive);
        let mut result = None;
        let accept = self.nested(|emitter| {
            if let Some(emission) = emitter.operation(value, op, ty, precise)?
                && emitter.plan.is_used(value)
            {
                let shape = emitter.shape(ty, emission.kind);
                let naga_type = emitter.module.numeric(shape.scalar, shape.lanes);
                let local = emitter.local(naga_type, None);
                emitter.store(local, emission.expr);
                result = Some((local, shape));
            }
            Ok::<(), Error>(())
        })?;
        if let Some((local, shape)) = result {
            let zero = self.zero_of(shape);
            self.store(local, zero);
        }
        self.statement(Statement::If { condition, accept, reject: Block::new() });
        Ok(result.map(|(local, shape)| Emission { expr: self.load(local), kind: shape.scalar.kind }))
    }
}
