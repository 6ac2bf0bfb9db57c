//! Reading sources and writing destinations.

use smallvec::SmallVec;

use super::{FunctionLowering, Register, typing};
use crate::{
    Error, Result,
    dxbc::operand::{Index, Operand, RegisterFile},
    ir::{BinaryOp, Op, Scalar, Type, UnaryOp, Value, ssa::coerce},
    reflection::ResourceClass,
};

/// Scalars, one for each component.
pub(super) type Lanes = SmallVec<[Value; 4]>;

/// Numbers of the components in a mask.
pub(super) fn components(mask: u8) -> SmallVec<[u8; 4]> {
    (0..4).filter(|component| mask >> component & 1 != 0).collect()
}

impl FunctionLowering<'_, '_> {
    /// What an operand's components hold, of whichever type that is, without modifiers. A load takes the type that is
    /// wanted.
    pub(super) fn lanes(&mut self, operand: &Operand, components: &[u8], wanted: Option<Scalar>) -> Result<Lanes> {
        let sources: SmallVec<[u8; 4]> =
            components.iter().map(|component| operand.selection.source(*component)).collect();
        match operand.file {
            RegisterFile::Temp => {
                let register = self.register(operand)?;
                Ok(sources.iter().map(|component| self.read(Register::Temp(register, *component), wanted)).collect())
            }
            RegisterFile::Immediate32 | RegisterFile::Immediate64 => {
                Ok(sources.iter().map(|component| self.i32(operand.immediate[*component as usize & 3])).collect())
            }
            RegisterFile::ConstantBuffer => self.constant_buffer(operand, &sources, wanted),
            RegisterFile::ImmediateConstantBuffer => {
                let Some(variable) = self.module.immediate else {
                    return Err(Error::malformed("icb is read, but not declared"));
                };
                let row = self.index(operand, 0)?;
                Ok(self.load_variable(variable, row, &sources))
            }
            RegisterFile::IndexableTemp => {
                let temp = self.indexable_temp(operand)?;
                if sources.iter().any(|component| *component >= temp.components) {
                    return Err(Error::malformed("a component of x# that is not declared"));
                }
                let index = self.index(operand, 1)?;
                Ok(self.load_variable(temp.variable, index, &sources))
            }
            RegisterFile::ThisPointer => self.this(operand, &sources),
            _ => self.stage_input(operand, &sources, wanted),
        }
    }

    /// An operand's components as a vector (or a scalar) of a type, with its modifiers. As `bool`: whether any bit is
    /// set.
    pub(super) fn source(&mut self, operand: &Operand, components: &[u8], scalar: Scalar) -> Result<Value> {
        let lanes = self.lanes(operand, components, Some(scalar))?;
        let value = self.combine(&lanes, scalar);
        Ok(self.modified(operand, value))
    }

    /// Applies an operand's modifiers.
    pub(super) fn modified(&mut self, operand: &Operand, mut value: Value) -> Value {
        let modifiers = operand.modifiers;
        let mut builder = self.build();
        let is_float = builder.ty(value).scalar().is_some_and(Scalar::is_float);
        if modifiers.absolute {
            value = if is_float {
                builder.unary(UnaryOp::FAbs, value)
            } else {
                let negative = builder.unary(UnaryOp::INeg, value);
                builder.binary(BinaryOp::SMax, value, negative)
            };
        }
        if modifiers.negate {
            value = builder.unary(if is_float { UnaryOp::FNeg } else { UnaryOp::INeg }, value);
        }
        value
    }

    /// Scalars of any types as a vector of one type.
    pub(super) fn combine(&mut self, lanes: &[Value], scalar: Scalar) -> Value {
        if lanes.is_empty() {
            // Of a destination without components: nothing is written.
            return self.function.zero(Type::Scalar(scalar));
        }
        let mut builder = self.build();
        // Convert once where all have one type.
        let mut types = lanes
            .iter()
            .filter(|lane| builder.function.as_constant(**lane).is_none())
            .map(|lane| builder.function.ty(*lane).scalar());
        let first = types.next().flatten();
        let common = first.filter(|first| types.all(|other| other == Some(*first)));
        let common = common.filter(|common| *common != Scalar::Bool || scalar == Scalar::Bool).unwrap_or(scalar);
        let same: Lanes = lanes.iter().map(|lane| coerce(&mut builder, *lane, common)).collect();
        let value = builder.compose(&same);
        coerce(&mut builder, value, scalar)
    }

    /// Reads a register's component.
    pub(super) fn read(&mut self, register: Register, wanted: Option<Scalar>) -> Value {
        let block = self.block.unwrap_or(self.function.entry);
        self.ssa.read(&mut self.function, register, block, wanted)
    }

    /// Assigns a register's component.
    pub(super) fn assign(&mut self, register: Register, value: Value) {
        let block = self.block.unwrap_or(self.function.entry);
        self.ssa.write(register, block, value);
    }

    /// The number of a register that cannot be relative.
    pub(super) fn register(&self, operand: &Operand) -> Result<u32> {
        operand.register().ok_or_else(|| Error::malformed("a register without an immediate number"))
    }

    /// Value of an index, `i32`.
    pub(super) fn index_value(&mut self, index: &Index) -> Result<Value> {
        let base = self.i32(index.base);
        let Some(relative) = &index.relative else { return Ok(base) };
        // A relative index is a register of the simple files; `Operand::read` bounds how deep they nest.
        let relative = self.source(relative, &[0], Scalar::I32)?;
        Ok(self.add(relative, base))
    }

    /// Sum of two `i32`, folded.
    pub(super) fn add(&mut self, a: Value, b: Value) -> Value {
        match (self.function.as_scalar_constant(a), self.function.as_scalar_constant(b)) {
            (Some(0), _) => b,
            (_, Some(0)) => a,
            (Some(a), Some(b)) => self.i32((a as u32).wrapping_add(b as u32)),
            _ => self.build().binary(BinaryOp::IAdd, a, b),
        }
    }

    /// Value of one of an operand's indices.
    pub(super) fn index(&mut self, operand: &Operand, dimension: usize) -> Result<Value> {
        match operand.indices.get(dimension) {
            Some(index) => self.index_value(index),
            None => Err(Error::malformed("a register without an index")),
        }
    }

    fn indexable_temp(&self, operand: &Operand) -> Result<super::IndexableTemp> {
        let register = self.register(operand)?;
        let temp = self.indexable.get(&register).copied();
        temp.ok_or_else(|| Error::malformed(format!("an indexable temporary is not declared: x{register}")))
    }

    /// Components of a variable's element.
    pub(super) fn load_variable(&mut self, variable: crate::ir::VariableId, index: Value, sources: &[u8]) -> Lanes {
        let element = self.module.module.variables[variable.index()].element;
        let scalar = element.scalar().unwrap_or(Scalar::I32);
        if element.lanes() == 1 {
            let value = self.push(Op::LoadVariable { variable, index, component: None }, element);
            return sources.iter().map(|_| value).collect();
        }
        if sources.iter().all(|component| *component == sources[0]) {
            let op = Op::LoadVariable { variable, index, component: Some(sources[0]) };
            let value = self.push(op, Type::Scalar(scalar));
            return sources.iter().map(|_| value).collect();
        }
        let value = self.push(Op::LoadVariable { variable, index, component: None }, element);
        sources.iter().map(|component| self.build().extract(value, *component)).collect()
    }

    /// Components of a row of a constant buffer.
    fn constant_buffer(&mut self, operand: &Operand, sources: &[u8], wanted: Option<Scalar>) -> Result<Lanes> {
        let (handle, _) = self.handle(operand, ResourceClass::Cbv)?;
        let Some(row_index) = operand.indices.last().filter(|_| operand.indices.len() >= 2) else {
            return Err(Error::malformed("a constant buffer without a row"));
        };
        let row = self.index_value(row_index)?;
        Ok(self.load_row(handle, row, sources, wanted))
    }

    /// Components of a row of 16 bytes.
    pub(super) fn load_row(&mut self, handle: Value, row: Value, sources: &[u8], wanted: Option<Scalar>) -> Lanes {
        let first = sources.iter().copied().min().unwrap_or(0);
        let last = sources.iter().copied().max().unwrap_or(0);
        let scalar = match wanted {
            Some(Scalar::F32) => Scalar::F32,
            Some(_) => Scalar::I32,
            None => self.destination_use(),
        };
        let op = Op::LoadConstant { handle, row, offset: first * 4 };
        let value = self.push(op, Type::new(scalar, last - first + 1));
        sources.iter().map(|component| self.build().extract(value, component - first)).collect()
    }

    /// Type that the readers of what this instruction writes want: a float if all do.
    pub(super) fn destination_use(&self) -> Scalar {
        let Some(destination) = self.instruction().operands.first() else { return Scalar::I32 };
        let Some(register) = destination.indices.last().map(|index| index.base) else { return Scalar::I32 };
        let all_float = components(destination.selection.mask()).into_iter().all(|component| {
            let used = match destination.file {
                RegisterFile::Temp => typing::first_use(&self.phase.instructions, self.current, register, component),
                RegisterFile::IndexableTemp => {
                    destination.register().and_then(|register| self.indexable.get(&register)).map(|temp| temp.scalar)
                }
                RegisterFile::Output => self.output_scalar(register, component),
                _ => None,
            };
            used == Some(Scalar::F32)
        });
        if all_float { Scalar::F32 } else { Scalar::I32 }
    }

    /// Writes a result: a vector of as many lanes as the destination's mask has components, or a scalar for all.
    pub(super) fn write(&mut self, operand: &Operand, value: Value) -> Result<()> {
        let count = operand.selection.mask().count_ones() as u8;
        let value = if self.instruction().saturate { self.saturate(value) } else { value };
        let mut builder = self.build();
        let lanes: Lanes = match builder.ty(value).lanes() {
            1 => SmallVec::from_elem(value, count as usize),
            lanes if lanes == count => (0..count).map(|lane| builder.extract(value, lane)).collect(),
            _ => return Err(Error::malformed("a destination with more components than the result has")),
        };
        self.write_lanes(operand, &lanes)
    }

    /// Clamps floats to 0..1.
    fn saturate(&mut self, value: Value) -> Value {
        let mut builder = self.build();
        match builder.ty(value).scalar() {
            Some(Scalar::F32 | Scalar::F64) => builder.unary(UnaryOp::FSaturate, value),
            _ => value,
        }
    }

    /// Writes scalars to the components of a destination's mask, in order.
    pub(super) fn write_lanes(&mut self, operand: &Operand, lanes: &[Value]) -> Result<()> {
        let written = components(operand.selection.mask());
        match operand.file {
            RegisterFile::Null => {}
            RegisterFile::Temp => {
                let register = self.register(operand)?;
                for (component, value) in written.iter().zip(lanes) {
                    self.assign(Register::Temp(register, *component), *value);
                }
            }
            RegisterFile::IndexableTemp => {
                let temp = self.indexable_temp(operand)?;
                if written.iter().any(|component| *component >= temp.components) {
                    return Err(Error::malformed("a component of x# that is not declared"));
                }
                let index = self.index(operand, 1)?;
                self.store_variable(temp.variable, index, &written, lanes);
            }
            RegisterFile::Output => self.write_output(operand, &written, lanes)?,
            file if super::super::declare::output_value(file).is_some() => {
                if let Some(value) = lanes.first() {
                    self.assign(Register::Special(file), *value);
                }
            }
            file => return Err(Error::malformed(format!("a destination that cannot be written: {file:?}"))),
        }
        Ok(())
    }

    /// Sets components of a variable's element.
    pub(super) fn store_variable(
        &mut self,
        variable: crate::ir::VariableId,
        index: Value,
        written: &[u8],
        lanes: &[Value],
    ) {
        let element = self.module.module.variables[variable.index()].element;
        let scalar = element.scalar().unwrap_or(Scalar::I32);
        if written.len() == element.lanes() as usize {
            let value = self.combine(lanes, scalar);
            self.push(Op::StoreVariable { variable, index, component: None, value }, Type::Void);
            return;
        }
        for (component, lane) in written.iter().zip(lanes) {
            let value = self.combine(&[*lane], scalar);
            self.push(Op::StoreVariable { variable, index, component: Some(*component), value }, Type::Void);
        }
    }
}
