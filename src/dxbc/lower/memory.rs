//! Raw, structured and typed memory: buffers, unordered-access views, group-shared memory, and atomics on them.

use smallvec::SmallVec;

use super::{
    FunctionLowering, Instruction, Opcode,
    registers::{Lanes, components},
    texture::texel_scalar,
};
use crate::{
    Error, Result,
    dxbc::operand::{Operand, RegisterFile},
    ir::{AtomicOp, BinaryOp, BufferAddress, Op, Scalar, Type, Value, VariableId},
    reflection::{ResourceClass, ResourceKind},
};

/// Memory that an instruction addresses by bytes.
#[derive(Clone, Copy)]
enum Memory {
    /// A raw buffer.
    Raw { handle: Value, byte: Value },
    /// A structured buffer.
    Structured { handle: Value, element: Value, byte: Value },
    /// Group-shared memory.
    Shared { variable: VariableId, word: Value, scalar: Scalar },
}

/// What an atomic instruction works on.
enum Target {
    Buffer { handle: Value, address: BufferAddress },
    Texture { handle: Value, coordinates: Value },
    Shared { variable: VariableId, word: Value },
}

impl FunctionLowering<'_, '_> {
    /// Lowers an instruction of this file; tells whether it is one.
    pub(super) fn memory(&mut self, instruction: &Instruction) -> Result<bool> {
        use Opcode::*;
        let operands = &instruction.operands;
        if let Some(op) = atomic(instruction.opcode) {
            self.atomic(instruction, op)?;
            return Ok(true);
        }
        match instruction.opcode {
            LdRaw => {
                let memory = self.address(&operands[2], &operands[1..2])?;
                self.load_memory(instruction, &operands[2], memory)?;
            }
            LdRawFeedback => {
                let memory = self.address(&operands[3], &operands[2..3])?;
                self.load_memory(instruction, &operands[3], memory)?;
                self.write_status(instruction)?;
            }
            LdStructured => {
                let memory = self.address(&operands[3], &operands[1..3])?;
                self.load_memory(instruction, &operands[3], memory)?;
            }
            LdStructuredFeedback => {
                let memory = self.address(&operands[4], &operands[2..4])?;
                self.load_memory(instruction, &operands[4], memory)?;
                self.write_status(instruction)?;
            }
            StoreRaw => {
                let memory = self.address(&operands[0], &operands[1..2])?;
                self.store_memory(instruction, &operands[2], memory)?;
            }
            StoreStructured => {
                let memory = self.address(&operands[0], &operands[1..3])?;
                self.store_memory(instruction, &operands[3], memory)?;
            }
            LdUavTyped => self.load_typed(instruction, 1)?,
            LdUavTypedFeedback => {
                self.load_typed(instruction, 2)?;
                self.write_status(instruction)?;
            }
            StoreUavTyped => self.store_typed(instruction)?,
            BufInfo => {
                let resource = &operands[1];
                let (handle, _) = self.handle(resource, Self::class(resource)?)?;
                let size = self.push(Op::BufferSize { handle }, Type::I32);
                self.write(&operands[0], size)?;
            }
            ImmAtomicAlloc | ImmAtomicConsume => {
                let (handle, _) = self.handle(&operands[1], ResourceClass::Uav)?;
                let increment = instruction.opcode == ImmAtomicAlloc;
                let value = self.push(Op::UpdateCounter { handle, increment }, Type::I32);
                self.write(&operands[0], value)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The memory of an operand at the address that one (raw) or two (structured) operands give.
    fn address(&mut self, memory: &Operand, address: &[Operand]) -> Result<Memory> {
        let mut parts = SmallVec::<[Value; 2]>::new();
        for operand in address {
            parts.push(self.source(operand, &[0], Scalar::I32)?);
        }
        self.memory_at(memory, &parts)
    }

    fn memory_at(&mut self, memory: &Operand, parts: &[Value]) -> Result<Memory> {
        if memory.file == RegisterFile::GroupSharedMemory {
            let register = self.register(memory)?;
            let Some(shared) = self.module.shared.get(&register).copied() else {
                return Err(Error::malformed(format!("group-shared memory is not declared: g{register}")));
            };
            let word = match (shared.stride, parts) {
                (None, &[byte]) => self.words(byte),
                (Some(stride), &[element, byte]) => {
                    let stride = self.i32(stride / 4);
                    let row = self.multiply(element, stride);
                    let word = self.words(byte);
                    self.add(row, word)
                }
                _ => return Err(Error::malformed(format!("g{register} is addressed in another form"))),
            };
            return Ok(Memory::Shared { variable: shared.variable, word, scalar: shared.scalar });
        }
        let (handle, binding) = self.handle(memory, Self::class(memory)?)?;
        match (self.kind(binding), parts) {
            (ResourceKind::RawBuffer { .. }, &[byte]) => Ok(Memory::Raw { handle, byte }),
            (ResourceKind::StructuredBuffer { .. }, &[element, byte]) => {
                Ok(Memory::Structured { handle, element, byte })
            }
            _ => Err(Error::malformed("a buffer is addressed in another form")),
        }
    }

    /// Number of the word at a byte.
    fn words(&mut self, byte: Value) -> Value {
        match self.function.as_scalar_constant(byte) {
            Some(byte) => self.i32(byte as u32 >> 2),
            None => {
                let two = self.i32(2);
                self.build().binary(BinaryOp::LShr, byte, two)
            }
        }
    }

    fn multiply(&mut self, a: Value, b: Value) -> Value {
        match (self.function.as_scalar_constant(a), self.function.as_scalar_constant(b)) {
            (Some(0), _) | (_, Some(1)) => a,
            (Some(a), Some(b)) => self.i32((a as u32).wrapping_mul(b as u32)),
            _ => self.build().binary(BinaryOp::IMul, a, b),
        }
    }

    /// Reads words; the swizzle of the memory's operand tells which one each component gets.
    fn load_memory(&mut self, instruction: &Instruction, memory: &Operand, at: Memory) -> Result<()> {
        let destination = &instruction.operands[0];
        let sources: SmallVec<[u8; 4]> = components(destination.selection.mask())
            .iter()
            .map(|component| memory.selection.source(*component))
            .collect();
        let Some(first) = sources.iter().copied().min() else { return Ok(()) };
        let last = sources.iter().copied().max().unwrap_or(first);
        let lanes: Lanes = match at {
            Memory::Shared { variable, word, scalar } => {
                let mut read: [Option<Value>; 4] = [None; 4];
                let mut lanes = Lanes::new();
                for component in sources {
                    let value = match read[component as usize & 3] {
                        Some(value) => value,
                        None => {
                            let offset = self.i32(component.into());
                            let index = self.add(word, offset);
                            self.push(Op::LoadVariable { variable, index, component: None }, Type::Scalar(scalar))
                        }
                    };
                    read[component as usize & 3] = Some(value);
                    lanes.push(value);
                }
                lanes
            }
            Memory::Raw { handle, .. } | Memory::Structured { handle, .. } => {
                let scalar = self.destination_use();
                let address = self.advanced(at, first);
                let op = Op::LoadBuffer { handle, address };
                let value = self.push(op, Type::new(scalar, last - first + 1));
                sources.iter().map(|component| self.build().extract(value, component - first)).collect()
            }
        };
        self.write_lanes(destination, &lanes)
    }

    /// Address of a component of a buffer's memory.
    fn advanced(&mut self, at: Memory, component: u8) -> BufferAddress {
        let offset = self.i32(u32::from(component) * 4);
        match at {
            Memory::Structured { element, byte, .. } => BufferAddress::Structured(element, self.add(byte, offset)),
            Memory::Raw { byte, .. } | Memory::Shared { word: byte, .. } => BufferAddress::Byte(self.add(byte, offset)),
        }
    }

    /// Writes words, one for each component of the memory's mask.
    fn store_memory(&mut self, instruction: &Instruction, value: &Operand, at: Memory) -> Result<()> {
        let written = components(instruction.operands[0].selection.mask());
        if written.is_empty() {
            return Err(Error::malformed("a store without components"));
        }
        let lanes = self.stored(value, &written)?;
        for run in written.chunk_by(|a, b| a + 1 == *b) {
            let first = written.iter().position(|component| *component == run[0]).unwrap_or(0);
            let lanes = &lanes[first..first + run.len()];
            match at {
                Memory::Shared { variable, word, scalar } => {
                    for (component, lane) in run.iter().zip(lanes) {
                        let offset = self.i32((*component).into());
                        let index = self.add(word, offset);
                        let value = self.combine(&[*lane], scalar);
                        self.push(Op::StoreVariable { variable, index, component: None, value }, Type::Void);
                    }
                }
                Memory::Raw { handle, .. } | Memory::Structured { handle, .. } => {
                    let scalar = match self.common_scalar(lanes) {
                        Scalar::Bool => Scalar::I32,
                        scalar => scalar,
                    };
                    let value = self.combine(lanes, scalar);
                    let address = self.advanced(at, run[0]);
                    self.push(Op::StoreBuffer { handle, address, value }, Type::Void);
                }
            }
        }
        Ok(())
    }

    /// Lanes that are stored, of whichever types.
    fn stored(&mut self, value: &Operand, written: &[u8]) -> Result<Lanes> {
        if !value.modifiers.negate && !value.modifiers.absolute {
            return self.lanes(value, written, None);
        }
        let value = self.source(value, written, Scalar::F32)?;
        let mut builder = self.build();
        Ok((0..written.len() as u8).map(|lane| builder.extract(value, lane)).collect())
    }

    /// `ld_uav_typed`: the operands from `first` on are the address and the view.
    fn load_typed(&mut self, instruction: &Instruction, first: usize) -> Result<()> {
        let (address, view) = (&instruction.operands[first], &instruction.operands[first + 1]);
        let (handle, binding) = self.handle(view, Self::class(view)?)?;
        let value = match self.kind(binding) {
            ResourceKind::TypedBuffer { component, .. } => {
                let element = self.source(address, &[0], Scalar::I32)?;
                let op = Op::LoadBuffer { handle, address: BufferAddress::Element(element) };
                self.push(op, Type::new(texel_scalar(component), 4))
            }
            ResourceKind::Texture { dimension, component, .. } => {
                let scalar = texel_scalar(component);
                let texture = super::texture::Texture { handle, dimension, scalar };
                let coordinates = self.source(address, texture.coordinates(), Scalar::I32)?;
                let op = Op::LoadTexture { handle, coordinates, level: None, sample: None, offset: None };
                self.push(op, Type::new(scalar, 4))
            }
            _ => return Err(Error::malformed("the view is not typed")),
        };
        let destination = &instruction.operands[0];
        let order: SmallVec<[u8; 4]> = components(destination.selection.mask())
            .iter()
            .map(|component| view.selection.source(*component))
            .collect();
        if order.is_empty() {
            return Ok(());
        }
        let value = self.build().swizzle(value, &order);
        self.write(destination, value)
    }

    fn store_typed(&mut self, instruction: &Instruction) -> Result<()> {
        let operands = &instruction.operands;
        let (handle, binding) = self.handle(&operands[0], ResourceClass::Uav)?;
        match self.kind(binding) {
            ResourceKind::TypedBuffer { component, .. } => {
                let element = self.source(&operands[1], &[0], Scalar::I32)?;
                let value = self.source(&operands[2], &[0, 1, 2, 3], texel_scalar(component))?;
                let op = Op::StoreBuffer { handle, address: BufferAddress::Element(element), value };
                self.push(op, Type::Void);
            }
            ResourceKind::Texture { dimension, component, .. } => {
                let scalar = texel_scalar(component);
                let texture = super::texture::Texture { handle, dimension, scalar };
                let coordinates = self.source(&operands[1], texture.coordinates(), Scalar::I32)?;
                let value = self.source(&operands[2], &[0, 1, 2, 3], scalar)?;
                self.push(Op::StoreTexture { handle, coordinates, sample: None, value }, Type::Void);
            }
            _ => return Err(Error::malformed("the view is not typed")),
        }
        Ok(())
    }

    /// `atomic_*` and `imm_atomic_*`.
    fn atomic(&mut self, instruction: &Instruction, op: AtomicOp) -> Result<()> {
        // The immediate forms return the old value to a destination that comes first.
        let returns = instruction.opcode.operands().first() == Some(&super::super::opcode::Role::Destination);
        let operands = &instruction.operands[usize::from(returns)..];
        let target = self.atomic_target(&operands[0], &operands[1])?;
        let (compare, value) = if op == AtomicOp::CompareExchange {
            let compare = self.source(&operands[2], &[0], Scalar::I32)?;
            (Some(compare), self.source(&operands[3], &[0], Scalar::I32)?)
        } else {
            (None, self.source(&operands[2], &[0], Scalar::I32)?)
        };
        let op = match target {
            Target::Buffer { handle, address } => Op::AtomicBuffer { op, handle, address, value, compare },
            Target::Texture { handle, coordinates } => Op::AtomicTexture { op, handle, coordinates, value, compare },
            Target::Shared { variable, word } => Op::AtomicVariable { op, variable, index: word, value, compare },
        };
        let old = self.push(op, Type::I32);
        if returns {
            self.write(&instruction.operands[0], old)?;
        }
        Ok(())
    }

    fn atomic_target(&mut self, memory: &Operand, address: &Operand) -> Result<Target> {
        if memory.file == RegisterFile::GroupSharedMemory {
            let register = self.register(memory)?;
            let structured = self.module.shared.get(&register).is_some_and(|shared| shared.stride.is_some());
            let parts = self.address_parts(address, if structured { 2 } else { 1 })?;
            let Memory::Shared { variable, word, .. } = self.memory_at(memory, &parts)? else {
                return Err(Error::internal("group-shared memory became a buffer"));
            };
            return Ok(Target::Shared { variable, word });
        }
        let (handle, binding) = self.handle(memory, ResourceClass::Uav)?;
        Ok(match self.kind(binding) {
            ResourceKind::RawBuffer { .. } => {
                let parts = self.address_parts(address, 1)?;
                Target::Buffer { handle, address: BufferAddress::Byte(parts[0]) }
            }
            ResourceKind::StructuredBuffer { .. } => {
                let parts = self.address_parts(address, 2)?;
                Target::Buffer { handle, address: BufferAddress::Structured(parts[0], parts[1]) }
            }
            ResourceKind::TypedBuffer { .. } => {
                let parts = self.address_parts(address, 1)?;
                Target::Buffer { handle, address: BufferAddress::Element(parts[0]) }
            }
            ResourceKind::Texture { dimension, component, .. } => {
                let texture = super::texture::Texture { handle, dimension, scalar: texel_scalar(component) };
                let coordinates = self.source(address, texture.coordinates(), Scalar::I32)?;
                Target::Texture { handle, coordinates }
            }
            _ => return Err(Error::malformed("the view has no atomics")),
        })
    }

    /// The first components of an address.
    fn address_parts(&mut self, address: &Operand, count: u8) -> Result<SmallVec<[Value; 2]>> {
        (0..count).map(|component| self.source(address, &[component], Scalar::I32)).collect()
    }
}

/// The operation of an atomic instruction.
fn atomic(opcode: Opcode) -> Option<AtomicOp> {
    use Opcode::*;
    Some(match opcode {
        AtomicAnd | ImmAtomicAnd => AtomicOp::And,
        AtomicOr | ImmAtomicOr => AtomicOp::Or,
        AtomicXor | ImmAtomicXor => AtomicOp::Xor,
        AtomicCmpStore | ImmAtomicCmpExch => AtomicOp::CompareExchange,
        AtomicIAdd | ImmAtomicIAdd => AtomicOp::Add,
        AtomicIMax | ImmAtomicIMax => AtomicOp::SMax,
        AtomicIMin | ImmAtomicIMin => AtomicOp::SMin,
        AtomicUMax | ImmAtomicUMax => AtomicOp::UMax,
        AtomicUMin | ImmAtomicUMin => AtomicOp::UMin,
        ImmAtomicExch => AtomicOp::Exchange,
        _ => return None,
    })
}
