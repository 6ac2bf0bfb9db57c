//! Resources: handles, sampling, loads of textures, and what can be asked about them.

use super::{
    FunctionLowering, Instruction, Opcode,
    registers::{Lanes, components},
};
use crate::{
    Error, Result,
    dxbc::operand::{Operand, RegisterFile, Selection},
    ir::{BindingId, BufferAddress, ConvertOp, Gather, Op, SampleLevel, Scalar, Type, UnaryOp, Value},
    reflection::{ComponentType, ResourceClass, ResourceKind, TextureDimension},
};

/// Type of the components that a resource's texels have as values.
pub(super) fn texel_scalar(component: ComponentType) -> Scalar {
    match component {
        ComponentType::I32 | ComponentType::U32 | ComponentType::I16 | ComponentType::U16 => Scalar::I32,
        _ => Scalar::F32,
    }
}

/// A texture that an instruction names.
#[derive(Clone, Copy)]
pub(super) struct Texture {
    pub handle: Value,
    pub dimension: TextureDimension,
    pub scalar: Scalar,
}

impl Texture {
    /// Components of its coordinates, the array layer included.
    pub fn coordinates(self) -> &'static [u8] {
        &[0, 1, 2, 3][..usize::from(self.dimension.coordinates()) + usize::from(self.dimension.is_arrayed())]
    }
}

/// Which component of what was read a destination's component gets.
fn returned(resource: &Operand, component: u8) -> u8 {
    match resource.selection {
        Selection::None | Selection::Scalar => component,
        selection => selection.source(component),
    }
}

impl FunctionLowering<'_, '_> {
    /// The resource that an operand names, and its binding.
    pub(super) fn handle(&mut self, operand: &Operand, class: ResourceClass) -> Result<(Value, BindingId)> {
        let id = self.resource_register(operand, class)?;
        let Some(range) = self.module.ranges.get(&(class, id)).copied() else {
            return Err(Error::malformed(format!("a resource is not declared: {class:?} {id}")));
        };
        let Some(binding) = self.module.interface.binding_at(class, range.space, range.register) else {
            let what = format!("a resource without a binding: {class:?} {}, space {}", range.register, range.space);
            return Err(Error::internal(what));
        };
        let first = self.module.interface.bindings[binding.index()].register;
        // Shader Model 5.1 gives the register once more, and it may be relative: it is absolute within the space.
        let explicit = match class {
            ResourceClass::Cbv => operand.indices.len() == 3,
            _ => operand.indices.len() == 2,
        };
        let index = if explicit {
            let register = self.index(operand, 1)?;
            let first = self.i32(first.wrapping_neg());
            self.add(register, first)
        } else {
            self.i32(range.register.wrapping_sub(first))
        };
        let non_uniform = operand.modifiers.non_uniform;
        Ok((self.push(Op::Handle { binding, index, non_uniform }, Type::Handle), binding))
    }

    /// Class of a resource operand.
    pub(super) fn class(operand: &Operand) -> Result<ResourceClass> {
        match operand.file {
            RegisterFile::Resource => Ok(ResourceClass::Srv),
            RegisterFile::UnorderedAccessView => Ok(ResourceClass::Uav),
            file => Err(Error::malformed(format!("no resource: {file:?}"))),
        }
    }

    pub(super) fn kind(&self, binding: BindingId) -> ResourceKind {
        self.module.interface.bindings[binding.index()].kind
    }

    fn texture_operand(&mut self, operand: &Operand) -> Result<Texture> {
        let (handle, binding) = self.handle(operand, Self::class(operand)?)?;
        match self.kind(binding) {
            ResourceKind::Texture { dimension, component, .. } => {
                Ok(Texture { handle, dimension, scalar: texel_scalar(component) })
            }
            _ => Err(Error::malformed("the resource is no texture")),
        }
    }

    /// A texture that can be sampled.
    fn sampled_texture(&mut self, operand: &Operand) -> Result<Texture> {
        let texture = self.texture_operand(operand)?;
        if operand.file != RegisterFile::Resource || texture.dimension.is_multisampled() {
            return Err(Error::malformed("the resource cannot be sampled"));
        }
        Ok(texture)
    }

    /// Writes what was read, in the order of the resource's swizzle. A scalar goes to every component.
    fn write_returned(&mut self, instruction: &Instruction, resource: &Operand, value: Value) -> Result<()> {
        let destination = &instruction.operands[0];
        let written = components(destination.selection.mask());
        if written.is_empty() {
            return Ok(());
        }
        if self.function.ty(value).lanes() == 1 {
            return self.write(destination, value);
        }
        let order: smallvec::SmallVec<[u8; 4]> =
            written.iter().map(|component| returned(resource, *component)).collect();
        let value = self.build().swizzle(value, &order);
        self.write(destination, value)
    }

    /// The texel offset of an instruction.
    fn immediate_offset(&mut self, instruction: &Instruction, dimension: TextureDimension) -> Option<Value> {
        let offsets = instruction.texel_offset?;
        let lanes = usize::from(dimension.coordinates());
        let is_cube = matches!(dimension, TextureDimension::Cube | TextureDimension::CubeArray);
        if is_cube || offsets[..lanes].iter().all(|offset| *offset == 0) {
            return None;
        }
        let bits: Vec<u64> = offsets[..lanes].iter().map(|offset| u64::from(i32::from(*offset) as u32)).collect();
        Some(self.function.constant(Type::new(Scalar::I32, lanes as u8), &bits))
    }

    /// Tells the second destination that all texels were resident.
    pub(super) fn write_status(&mut self, instruction: &Instruction) -> Result<()> {
        let status = self.i32(u32::MAX);
        let operand = &instruction.operands[1];
        let lanes = Lanes::from_elem(status, operand.selection.mask().count_ones() as usize);
        self.write_lanes(operand, &lanes)
    }

    /// Lowers an instruction of this file; tells whether it is one.
    pub(super) fn texture(&mut self, instruction: &Instruction) -> Result<bool> {
        use Opcode::*;
        match instruction.opcode {
            Sample | SampleB | SampleC | SampleCLz | SampleD | SampleL => self.sample(instruction, 1)?,
            SampleLFeedback | SampleCLzFeedback | SampleClampFeedback | SampleBClampFeedback | SampleDClampFeedback
            | SampleCClampFeedback => {
                self.sample(instruction, 2)?;
                self.write_status(instruction)?;
            }
            Gather4 | Gather4C | Gather4Po | Gather4PoC => self.gather(instruction, 1)?,
            Gather4Feedback | Gather4CFeedback | Gather4PoFeedback | Gather4PoCFeedback => {
                self.gather(instruction, 2)?;
                self.write_status(instruction)?;
            }
            Ld | LdMs => self.load(instruction, 1)?,
            LdFeedback | LdMsFeedback => {
                self.load(instruction, 2)?;
                self.write_status(instruction)?;
            }
            Lod => self.lod(instruction)?,
            ResInfo => self.resource_info(instruction)?,
            SampleInfo => {
                let resource = &instruction.operands[1];
                let texture = self.optional_texture(resource)?;
                let count = self.push(Op::SampleCount(texture), Type::I32);
                let zero = self.i32(0);
                let mut value = self.build().compose(&[count, zero, zero, zero]);
                // D3D10_SB_INSTRUCTION_RETURN_TYPE
                if instruction.return_type() == 0 {
                    value = self.build().convert(ConvertOp::UToF, value, Scalar::F32);
                }
                self.write_returned(instruction, resource, value)?;
            }
            SamplePos => {
                let resource = &instruction.operands[1];
                let handle = self.optional_texture(resource)?;
                let sample = self.source(&instruction.operands[2], &[0], Scalar::I32)?;
                let op = Op::SamplePosition { handle, sample };
                let position = self.push(op, Type::new(Scalar::F32, 2));
                let mut builder = self.build();
                let (x, y, zero) = (builder.extract(position, 0), builder.extract(position, 1), builder.f32(0.0));
                let value = builder.compose(&[x, y, zero, zero]);
                self.write_returned(instruction, resource, value)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The texture of an operand; `None` for the rasterizer.
    fn optional_texture(&mut self, operand: &Operand) -> Result<Option<Value>> {
        Ok(match operand.file {
            RegisterFile::Rasterizer => None,
            _ => Some(self.texture_operand(operand)?.handle),
        })
    }

    /// `sample*`: the operands from `first` on are coordinates, texture, sampler, and what the form adds.
    fn sample(&mut self, instruction: &Instruction, first: usize) -> Result<()> {
        use Opcode::*;
        let operands = &instruction.operands[first..];
        let texture = self.sampled_texture(&operands[1])?;
        let (sampler, _) = self.handle(&operands[2], ResourceClass::Sampler)?;
        let coordinates = self.source(&operands[0], texture.coordinates(), Scalar::F32)?;
        let mut more = operands[3..].iter();
        let mut scalar = |this: &mut Self| match more.next() {
            Some(operand) => this.source(operand, &[0], Scalar::F32),
            None => Err(Error::malformed("too few operands")),
        };
        let (level, compare) = match instruction.opcode {
            SampleB | SampleBClampFeedback => (SampleLevel::Bias(scalar(self)?), None),
            SampleL | SampleLFeedback => (SampleLevel::Level(scalar(self)?), None),
            SampleC | SampleCClampFeedback => (SampleLevel::Implicit, Some(scalar(self)?)),
            SampleCLz | SampleCLzFeedback => (SampleLevel::Zero, Some(scalar(self)?)),
            SampleD | SampleDClampFeedback => {
                let lanes = &[0, 1, 2][..usize::from(texture.dimension.coordinates())];
                let x = self.source(&operands[3], lanes, Scalar::F32)?;
                let y = self.source(&operands[4], lanes, Scalar::F32)?;
                (SampleLevel::Gradient(x, y), None)
            }
            _ => (SampleLevel::Implicit, None),
        };
        let clamped = matches!(
            instruction.opcode,
            SampleClampFeedback | SampleBClampFeedback | SampleDClampFeedback | SampleCClampFeedback
        );
        let min_lod = match operands.last() {
            Some(operand) if clamped => Some(self.source(operand, &[0], Scalar::F32)?),
            _ => None,
        };
        let offset = self.immediate_offset(instruction, texture.dimension);
        let ty = if compare.is_some() { Type::F32 } else { Type::new(texture.scalar, 4) };
        let op = crate::ir::Sample { texture: texture.handle, sampler, coordinates, level, compare, offset, min_lod };
        let value = self.push(Op::Sample(Box::new(op)), ty);
        self.write_returned(instruction, &operands[1], value)
    }

    /// `gather4*`: the operands from `first` on are coordinates, offset (`_po`), texture, sampler, reference (`_c`).
    fn gather(&mut self, instruction: &Instruction, first: usize) -> Result<()> {
        use Opcode::*;
        let programmable =
            matches!(instruction.opcode, Gather4Po | Gather4PoC | Gather4PoFeedback | Gather4PoCFeedback);
        let compares = matches!(instruction.opcode, Gather4C | Gather4PoC | Gather4CFeedback | Gather4PoCFeedback);
        let operands = &instruction.operands[first..];
        let at = if programmable { 2 } else { 1 };
        let texture = self.sampled_texture(&operands[at])?;
        let (sampler, _) = self.handle(&operands[at + 1], ResourceClass::Sampler)?;
        let coordinates = self.source(&operands[0], texture.coordinates(), Scalar::F32)?;
        let offset = if programmable {
            let lanes = &[0, 1, 2][..usize::from(texture.dimension.coordinates())];
            Some(self.source(&operands[1], lanes, Scalar::I32)?)
        } else {
            self.immediate_offset(instruction, texture.dimension)
        };
        let compare = match operands.get(at + 2) {
            Some(reference) if compares => Some(self.source(reference, &[0], Scalar::F32)?),
            _ => None,
        };
        // Before Shader Model 5 the sampler has no component: it is red.
        let component = match operands[at + 1].selection {
            Selection::Select(component) if !compares => component,
            _ => 0,
        };
        let ty = Type::new(if compares { Scalar::F32 } else { texture.scalar }, 4);
        let op = Gather { texture: texture.handle, sampler, coordinates, component, compare, offset };
        let value = self.push(Op::Gather(Box::new(op)), ty);
        self.write_returned(instruction, &operands[at], value)
    }

    /// `ld*`: the operands from `first` on are coordinates, resource, and the sample of multisampled textures.
    fn load(&mut self, instruction: &Instruction, first: usize) -> Result<()> {
        let operands = &instruction.operands[first..];
        let resource = &operands[1];
        let (handle, binding) = self.handle(resource, ResourceClass::Srv)?;
        let (dimension, scalar) = match self.kind(binding) {
            ResourceKind::Texture { dimension, component, .. } => (dimension, texel_scalar(component)),
            ResourceKind::TypedBuffer { component, .. } => {
                let element = self.source(&operands[0], &[0], Scalar::I32)?;
                let op = Op::LoadBuffer { handle, address: BufferAddress::Element(element) };
                let value = self.push(op, Type::new(texel_scalar(component), 4));
                return self.write_returned(instruction, resource, value);
            }
            ResourceKind::TextureBuffer { .. } => {
                let row = self.source(&operands[0], &[0], Scalar::I32)?;
                let written = components(instruction.operands[0].selection.mask());
                let sources: smallvec::SmallVec<[u8; 4]> =
                    written.iter().map(|component| returned(resource, *component)).collect();
                let lanes = self.load_row(handle, row, &sources, None);
                return self.write_lanes(&instruction.operands[0], &lanes);
            }
            _ => return Err(Error::malformed("the resource is neither a texture nor a typed buffer")),
        };
        let texture = Texture { handle, dimension, scalar };
        let coordinates = self.source(&operands[0], texture.coordinates(), Scalar::I32)?;
        let multisampled = dimension.is_multisampled();
        let sample = match operands.get(2) {
            Some(sample) if multisampled => Some(self.source(sample, &[0], Scalar::I32)?),
            None if multisampled => return Err(Error::malformed("a load of a multisampled texture without a sample")),
            _ => None,
        };
        let level = if multisampled { None } else { Some(self.source(&operands[0], &[3], Scalar::I32)?) };
        let offset = self.immediate_offset(instruction, dimension);
        let op = Op::LoadTexture { handle, coordinates, level, sample, offset };
        let value = self.push(op, Type::new(scalar, 4));
        self.write_returned(instruction, resource, value)
    }

    /// `lod`: x is the level clamped to the texture's, y the level itself.
    fn lod(&mut self, instruction: &Instruction) -> Result<()> {
        let operands = &instruction.operands;
        let texture = self.sampled_texture(&operands[2])?;
        let (sampler, _) = self.handle(&operands[3], ResourceClass::Sampler)?;
        let lanes = &[0, 1, 2][..usize::from(texture.dimension.coordinates())];
        let coordinates = self.source(&operands[1], lanes, Scalar::F32)?;
        let mut level = |clamped| {
            let op = Op::CalculateLod { texture: texture.handle, sampler, coordinates, clamped };
            self.push(op, Type::F32)
        };
        let (clamped, unclamped) = (level(true), level(false));
        let mut builder = self.build();
        let zero = builder.f32(0.0);
        let value = builder.compose(&[clamped, unclamped, zero, zero]);
        self.write_returned(instruction, &operands[2], value)
    }

    /// `resinfo`: sizes and the number of levels, as integers, floats or reciprocals.
    fn resource_info(&mut self, instruction: &Instruction) -> Result<()> {
        const RETURN_FLOAT: u32 = 0;
        const RETURN_RECIPROCAL: u32 = 1;
        let resource = &instruction.operands[2];
        let class = Self::class(resource)?;
        let (handle, binding) = self.handle(resource, class)?;
        let (size, spatial) = match self.kind(binding) {
            ResourceKind::Texture { dimension, .. } => {
                let has_levels = class == ResourceClass::Srv && !dimension.is_multisampled();
                let level = match has_levels {
                    true => Some(self.source(&instruction.operands[1], &[0], Scalar::I32)?),
                    false => None,
                };
                let size = self.push(Op::TextureSize { handle, level }, Type::new(Scalar::I32, 4));
                // A cube has faces of two dimensions.
                let spatial = match dimension {
                    TextureDimension::Cube | TextureDimension::CubeArray => 2,
                    _ => dimension.coordinates(),
                };
                (size, spatial)
            }
            _ => {
                let count = self.push(Op::BufferSize { handle }, Type::I32);
                let zero = self.i32(0);
                (self.build().compose(&[count, zero, zero, zero]), 1)
            }
        };
        let return_type = instruction.return_type();
        let value = if matches!(return_type, RETURN_FLOAT | RETURN_RECIPROCAL) {
            let mut builder = self.build();
            let mut value = builder.convert(ConvertOp::UToF, size, Scalar::F32);
            if return_type == RETURN_RECIPROCAL {
                // Of the sizes alone: layers and levels are numbers.
                let lanes: Lanes = (0..4)
                    .map(|lane| {
                        let number = builder.extract(value, lane);
                        if lane < spatial { builder.unary(UnaryOp::FRcp, number) } else { number }
                    })
                    .collect();
                value = builder.compose(&lanes);
            }
            value
        } else {
            size
        };
        self.write_returned(instruction, resource, value)
    }
}
