//! Inputs, outputs, and what else the pipeline hands over.

use smallvec::SmallVec;

use super::{
    super::declare::output_value,
    FunctionLowering, IndexedRegisters, Instruction, ModuleLowering, Opcode, Register,
    registers::{Lanes, components},
};
use crate::{
    Error, Result,
    dxbc::{
        declaration::Declaration,
        operand::{Operand, RegisterFile},
    },
    ir::{
        Barrier, Builder, CompareOp, ElementId, EvaluateAt, Function, FunctionId, Op, Scalar, SignatureKind,
        Terminator, Type, Value, Variable, VariableId, VariableSpace,
    },
    reflection::{ComponentType, SignatureElement, Stage, SystemValue},
};

/// Registers of a signature, at most: Shader Model 5 has 32.
const MAX_REGISTERS: u32 = 64;

/// Type that an element's components have as values.
fn element_scalar(element: &SignatureElement) -> Option<Scalar> {
    match element.component {
        ComponentType::Unknown => None,
        ComponentType::Bool
        | ComponentType::I16
        | ComponentType::U16
        | ComponentType::I32
        | ComponentType::U32
        | ComponentType::I64
        | ComponentType::U64
        | ComponentType::Packed8x32 => Some(Scalar::I32),
        _ => Some(Scalar::F32),
    }
}

/// The element that has a component of a register.
fn element_at(list: &[SignatureElement], register: u32, component: u8, stream: u8) -> Option<usize> {
    list.iter().position(|element| {
        element.stream == stream
            && element.mask >> component & 1 != 0
            && element.register.is_some_and(|first| register >= first && register - first < element.rows.max(1))
    })
}

impl<'a> FunctionLowering<'_, 'a> {
    fn signature(&self, kind: SignatureKind) -> &'a [SignatureElement] {
        let entry = self.module.entry;
        match kind {
            SignatureKind::Input => &entry.inputs,
            SignatureKind::Output => &entry.outputs,
            SignatureKind::PatchConstant => &entry.patch_constants,
        }
    }

    /// Components of an input register or of a system value.
    pub(super) fn stage_input(&mut self, operand: &Operand, sources: &[u8], wanted: Option<Scalar>) -> Result<Lanes> {
        let kind = match operand.file {
            RegisterFile::Input | RegisterFile::InputControlPoint => SignatureKind::Input,
            RegisterFile::OutputControlPoint => SignatureKind::Output,
            RegisterFile::InputPatchConstant => SignatureKind::PatchConstant,
            RegisterFile::Output if self.output == SignatureKind::PatchConstant => SignatureKind::PatchConstant,
            RegisterFile::Output => {
                let register = self.register(operand)?;
                return Ok(sources.iter().map(|lane| self.read(Register::Output(register, *lane), wanted)).collect());
            }
            _ => return self.system_value(operand.file, sources),
        };
        let Some((register, vertex)) = operand.indices.split_last() else {
            return Err(Error::malformed("an input without a register"));
        };
        let vertex = match vertex {
            [] => None,
            [vertex] => Some(self.index_value(vertex)?),
            _ => return Err(Error::malformed("an input of three dimensions")),
        };
        if register.relative.is_some() {
            let index = self.index_value(register)?;
            if vertex.is_some() || kind != SignatureKind::Input {
                return self.indexed_once(operand, kind, register.base, index, vertex, sources);
            }
            let found = self.indexed_inputs.iter().find(|range| covers(range, register.base)).copied();
            let Some(range) = found else {
                return Err(Error::malformed(format!("no index range of inputs is declared at v{}", register.base)));
            };
            let first = self.i32(range.first.wrapping_neg());
            let index = self.add(index, first);
            return Ok(self.load_variable(range.variable, index, sources));
        }
        self.load_input(kind, register.base, vertex, sources, wanted)
    }

    /// Components of one of several input registers, where the inputs cannot be copied at the beginning: they are
    /// copied at the place.
    fn indexed_once(
        &mut self,
        operand: &Operand,
        kind: SignatureKind,
        base: u32,
        index: Value,
        vertex: Option<Value>,
        sources: &[u8],
    ) -> Result<Lanes> {
        let (first, count) = self.index_range(operand.file, base)?;
        let scalar = self.range_scalar(kind, first, count);
        let variable = self.range_variable(operand.file, first, count, scalar);
        self.fill(variable, first, count, kind, |this, register, there| {
            this.load_input(kind, register, vertex, there, Some(scalar))
        })?;
        let negative = self.i32(first.wrapping_neg());
        let index = self.add(index, negative);
        Ok(self.load_variable(variable, index, sources))
    }

    /// First register and number of registers of the declared range that holds a register.
    fn index_range(&self, file: RegisterFile, base: u32) -> Result<(u32, u32)> {
        let mut ranges = self.phase.declarations.iter().filter_map(|declared| match &declared.declaration {
            Declaration::IndexRange { operand, count } if operand.file == file => {
                operand.indices.last().map(|index| (index.base, *count))
            }
            _ => None,
        });
        let range = ranges.find(|(first, count)| base >= *first && base - first < *count);
        let range = range.filter(|(first, count)| *first <= MAX_REGISTERS && *count <= MAX_REGISTERS);
        range.ok_or_else(|| Error::malformed(format!("no index range is declared at the register: {file:?} {base}")))
    }

    /// Type of the elements in a range of registers.
    fn range_scalar(&self, kind: SignatureKind, first: u32, count: u32) -> Scalar {
        let in_range = |register: u32| register >= first && register - first < count;
        let mut elements = self.signature(kind).iter();
        elements.find(|element| element.register.is_some_and(in_range)).and_then(element_scalar).unwrap_or(Scalar::F32)
    }

    fn range_variable(&mut self, file: RegisterFile, first: u32, count: u32, scalar: Scalar) -> VariableId {
        let prefix = match file {
            RegisterFile::Input => "v",
            RegisterFile::Output => "o",
            RegisterFile::InputControlPoint => "vicp",
            RegisterFile::OutputControlPoint => "vocp",
            _ => "vpc",
        };
        self.module.variable(Variable {
            name: format!("{prefix}{first}"),
            space: VariableSpace::Thread,
            element: Type::new(scalar, 4),
            len: count,
            initial: None,
        })
    }

    /// Sets a variable to what `read` gives for the components of each register that the signature has.
    fn fill(
        &mut self,
        variable: VariableId,
        first: u32,
        count: u32,
        kind: SignatureKind,
        read: impl Fn(&mut Self, u32, &[u8]) -> Result<Lanes>,
    ) -> Result<()> {
        for offset in 0..count {
            let list = self.signature(kind);
            let register = first + offset;
            let there: SmallVec<[u8; 4]> =
                (0..4).filter(|component| element_at(list, register, *component, 0).is_some()).collect();
            if there.is_empty() {
                continue;
            }
            let lanes = read(self, register, &there)?;
            let index = self.i32(offset);
            self.store_variable(variable, index, &there, &lanes);
        }
        Ok(())
    }

    /// Components of an input register, from the elements that are packed in it.
    fn load_input(
        &mut self,
        kind: SignatureKind,
        register: u32,
        vertex: Option<Value>,
        sources: &[u8],
        wanted: Option<Scalar>,
    ) -> Result<Lanes> {
        let list = self.signature(kind);
        let mut lanes: SmallVec<[Option<Value>; 4]> = SmallVec::from_elem(None, sources.len());
        for at in 0..sources.len() {
            if lanes[at].is_some() {
                continue;
            }
            let Some(index) = element_at(list, register, sources[at], 0) else {
                let component = char::from(b"xyzw"[sources[at] as usize & 3]);
                return Err(Error::malformed(format!(
                    "an input register that no signature element has: {kind:?} {register}.{component}"
                )));
            };
            let element = &list[index];
            // All components of this element at once.
            let of_element = |component: u8| element_at(list, register, component, 0) == Some(index);
            let needed = sources.iter().copied().filter(|component| of_element(*component));
            let (first, last) = needed.fold((3, 0), |(first, last), lane| (lane.min(first), lane.max(last)));
            let scalar = element_scalar(element).or(wanted.filter(|wanted| *wanted != Scalar::Bool));
            let scalar = scalar.unwrap_or(Scalar::F32);
            let row = self.i32(register - element.register.unwrap_or(register));
            let op = Op::LoadInput {
                signature: kind,
                element: ElementId(index as u32),
                row,
                component: first.saturating_sub(element.first_component()),
                vertex,
            };
            let mut value = self.push(op, Type::new(scalar, last - first + 1));
            if element.system_value == SystemValue::IsFrontFace {
                // Direct3D's is a mask.
                let zero = self.i32(0);
                value = self.build().compare(CompareOp::INe, value, zero);
            }
            for (lane, source) in lanes.iter_mut().zip(sources) {
                if lane.is_none() && of_element(*source) {
                    *lane = Some(self.build().extract(value, source - first));
                }
            }
        }
        Ok(lanes.into_iter().flatten().collect())
    }

    /// Components of a value that is in no signature.
    fn system_value(&mut self, file: RegisterFile, sources: &[u8]) -> Result<Lanes> {
        let stage = self.module.entry.stage;
        let there = match file {
            RegisterFile::ThreadId
            | RegisterFile::ThreadGroupId
            | RegisterFile::ThreadIdInGroup
            | RegisterFile::ThreadIdInGroupFlattened => stage == Stage::Compute,
            RegisterFile::InputCoverageMask | RegisterFile::InnerCoverage => stage == Stage::Pixel,
            RegisterFile::GsInstanceId => stage == Stage::Geometry,
            RegisterFile::OutputControlPointId => stage == Stage::Hull,
            RegisterFile::InputDomainPoint => stage == Stage::Domain,
            RegisterFile::InputPrimitiveId => !matches!(stage, Stage::Vertex | Stage::Compute),
            _ => true,
        };
        if !there {
            return Err(Error::malformed(format!("a system value that the stage lacks: {file:?}")));
        }
        let (value, ty) = match file {
            RegisterFile::ThreadId => (SystemValue::DispatchThreadId, Type::new(Scalar::I32, 3)),
            RegisterFile::ThreadGroupId => (SystemValue::GroupId, Type::new(Scalar::I32, 3)),
            RegisterFile::ThreadIdInGroup => (SystemValue::GroupThreadId, Type::new(Scalar::I32, 3)),
            RegisterFile::ThreadIdInGroupFlattened => (SystemValue::GroupIndex, Type::I32),
            RegisterFile::InputPrimitiveId => (SystemValue::PrimitiveId, Type::I32),
            RegisterFile::InputCoverageMask => (SystemValue::Coverage, Type::I32),
            RegisterFile::InnerCoverage => (SystemValue::InnerCoverage, Type::I32),
            RegisterFile::GsInstanceId => (SystemValue::GsInstanceId, Type::I32),
            RegisterFile::OutputControlPointId => (SystemValue::OutputControlPointId, Type::I32),
            RegisterFile::InputDomainPoint => (SystemValue::DomainLocation, Type::new(Scalar::F32, 3)),
            RegisterFile::ForkInstanceId | RegisterFile::JoinInstanceId => {
                let instance = self.instance.ok_or_else(|| Error::malformed("an instance outside of its phase"))?;
                let instance = self.i32(instance);
                return Ok(sources.iter().map(|_| instance).collect());
            }
            RegisterFile::CycleCounter => {
                self.module.note("vCycleCounter reads 0");
                let zero = self.i32(0);
                return Ok(sources.iter().map(|_| zero).collect());
            }
            file => return Err(Error::malformed(format!("a source that cannot be read: {file:?}"))),
        };
        if sources.iter().any(|component| *component >= ty.lanes()) && ty.lanes() > 1 {
            return Err(Error::malformed(format!("a component that a system value lacks: {file:?}")));
        }
        let value = self.push(Op::SystemValue(value), ty);
        Ok(sources.iter().map(|component| self.build().extract(value, *component)).collect())
    }

    /// Makes the variables of inputs and outputs that relative indices reach.
    pub(super) fn prepare_indexed(&mut self) -> Result<()> {
        for declared in &self.phase.declarations {
            let Declaration::IndexRange { operand, count } = &declared.declaration else { continue };
            let Some(first) = operand.indices.last().map(|index| index.base) else { continue };
            let (used, is_input) = match operand.file {
                RegisterFile::Input => (&self.scan.relative_inputs, true),
                RegisterFile::Output if self.output == SignatureKind::Output => (&self.scan.relative_outputs, false),
                // Control points and patch constants are addressed as they are.
                _ => continue,
            };
            if *count == 0 || *count > MAX_REGISTERS || first > MAX_REGISTERS {
                let what = format!("registers of an index range: {first}, {count}");
                return Err(Error::malformed(what).at_offset(declared.offset));
            }
            if operand.indices.len() > 1 || !used.iter().any(|base| *base >= first && base - first < *count) {
                continue;
            }
            let kind = if is_input { SignatureKind::Input } else { self.output };
            let scalar = self.range_scalar(kind, first, *count);
            let variable = self.range_variable(operand.file, first, *count, scalar);
            let range = IndexedRegisters { first, count: *count, variable, scalar };
            if is_input {
                self.indexed_inputs.push(range);
            } else {
                let mask = operand.selection.mask();
                for register in first..first + count {
                    *self.scan.outputs.entry(register).or_default() |= mask;
                }
                self.indexed_outputs.push(range);
            }
        }
        Ok(())
    }

    /// Copies inputs to the variables by which they are indexed.
    pub(super) fn fill_indexed_inputs(&mut self) -> Result<()> {
        for range in self.indexed_inputs.clone() {
            self.fill(range.variable, range.first, range.count, SignatureKind::Input, |this, register, there| {
                this.load_input(SignatureKind::Input, register, None, there, Some(range.scalar))
            })?;
        }
        Ok(())
    }

    /// Writes a patch constant at once: what a phase leaves alone stays as another phase or instance wrote it.
    fn write_patch_constant(&mut self, operand: &Operand, written: &[u8], lanes: &[Value]) -> Result<()> {
        let Some(register) = operand.indices.last() else {
            return Err(Error::malformed("an output without a register"));
        };
        let index = self.index_value(register)?;
        if let Some(register) = self.function.as_scalar_constant(index) {
            return self.store_patch_constant(register as u32, written, lanes);
        }
        let (first, count) = self.index_range(RegisterFile::Output, register.base)?;
        for register in first..first + count {
            let list = self.signature(SignatureKind::PatchConstant);
            let has = |component: &u8| element_at(list, register, *component, 0).is_some();
            let there: SmallVec<[u8; 4]> = written.iter().copied().filter(has).collect();
            if there.is_empty() {
                continue;
            }
            let value: Lanes =
                written.iter().zip(lanes).filter(|(component, _)| has(component)).map(|(_, lane)| *lane).collect();
            let before = self.load_input(SignatureKind::PatchConstant, register, None, &there, None)?;
            let this = self.i32(register);
            let condition = self.build().compare(CompareOp::IEq, index, this);
            let after = self.choose(condition, &value, &before);
            self.store_patch_constant(register, &there, &after)?;
        }
        Ok(())
    }

    /// Writes components of a patch constant's register.
    fn store_patch_constant(&mut self, register: u32, written: &[u8], lanes: &[Value]) -> Result<()> {
        let list = self.signature(SignatureKind::PatchConstant);
        for (component, lane) in written.iter().zip(lanes) {
            let Some(index) = element_at(list, register, *component, 0) else {
                let what = format!("an output register that no signature element has: {register}");
                return Err(Error::malformed(what));
            };
            let element = &list[index];
            let value = self.combine(&[*lane], element_scalar(element).unwrap_or(Scalar::F32));
            let row = register - element.register.unwrap_or(register);
            self.store_output(index, row, component.saturating_sub(element.first_component()), value);
        }
        Ok(())
    }

    /// Writes components of an output register.
    pub(super) fn write_output(&mut self, operand: &Operand, written: &[u8], lanes: &[Value]) -> Result<()> {
        if self.output == SignatureKind::PatchConstant {
            return self.write_patch_constant(operand, written, lanes);
        }
        let Some(register) = operand.indices.last() else {
            return Err(Error::malformed("an output without a register"));
        };
        let range = self.indexed_outputs.iter().find(|range| covers(range, register.base)).copied();
        match range {
            Some(range) => {
                let index = self.index_value(register)?;
                let first = self.i32(range.first.wrapping_neg());
                let index = self.add(index, first);
                self.store_variable(range.variable, index, written, lanes);
            }
            None if register.relative.is_some() => {
                return Err(Error::malformed(format!("no index range of outputs is declared at o{}", register.base)));
            }
            None => {
                for (component, value) in written.iter().zip(lanes) {
                    self.assign(Register::Output(register.base, *component), *value);
                }
            }
        }
        Ok(())
    }

    /// Type of an output's component, if its element has one.
    pub(super) fn output_scalar(&self, register: u32, component: u8) -> Option<Scalar> {
        let list = self.signature(self.output);
        element_at(list, register, component, 0).and_then(|index| element_scalar(&list[index]))
    }

    /// Hands over what the outputs hold.
    pub(super) fn store_outputs(&mut self) -> Result<()> {
        self.store_outputs_of(None)
    }

    /// Hands over what the outputs of a stream hold; of all streams if it is `None`.
    fn store_outputs_of(&mut self, stream: Option<u8>) -> Result<()> {
        let list = self.signature(self.output);
        for (index, element) in list.iter().enumerate() {
            if stream.is_some_and(|stream| stream != element.stream) {
                continue;
            }
            match element.register {
                Some(first) => {
                    for row in 0..element.rows.clamp(1, 64) {
                        self.store_row(index, element, first.saturating_add(row), row);
                    }
                }
                None => {
                    let files = self.scan.special_outputs.clone();
                    let file = files.into_iter().find(|file| output_value(*file) == Some(element.system_value));
                    if let Some(file) = file {
                        let scalar = element_scalar(element).unwrap_or(Scalar::F32);
                        let value = self.read(Register::Special(file), Some(scalar));
                        let value = self.combine(&[value], scalar);
                        self.store_output(index, 0, 0, value);
                    }
                }
            }
        }
        Ok(())
    }

    /// Hands over one row of an element: each run of components that the program writes.
    fn store_row(&mut self, index: usize, element: &SignatureElement, register: u32, row: u32) {
        let written = self.scan.outputs.get(&register).copied().unwrap_or(0) & element.mask;
        let scalar = element_scalar(element).unwrap_or(Scalar::F32);
        let all = components(written);
        let range = self.indexed_outputs.iter().find(|range| covers(range, register)).copied();
        for run in all.chunk_by(|a, b| a + 1 == *b) {
            let lanes: Lanes = match range {
                Some(range) => {
                    let at = self.i32(register - range.first);
                    self.load_variable(range.variable, at, run)
                }
                None => run
                    .iter()
                    .map(|component| self.read(Register::Output(register, *component), Some(scalar)))
                    .collect(),
            };
            let value = self.combine(&lanes, scalar);
            self.store_output(index, row, run[0].saturating_sub(element.first_component()), value);
        }
    }

    fn store_output(&mut self, element: usize, row: u32, component: u8, value: Value) {
        let row = self.i32(row);
        let op = Op::StoreOutput {
            signature: self.output,
            element: ElementId(element as u32),
            row,
            component,
            vertex: None,
            value,
        };
        self.push(op, Type::Void);
    }

    /// Lowers what speaks with the rest of the pipeline and with other threads.
    pub(super) fn stage(&mut self, instruction: &Instruction) -> Result<bool> {
        let operands = &instruction.operands;
        match instruction.opcode {
            Opcode::Discard => {
                let mut condition = self.source(&operands[0], &[0], Scalar::Bool)?;
                if !instruction.tests_nonzero() {
                    condition = self.invert(condition);
                }
                self.push(Op::Discard(condition), Type::Void);
            }
            Opcode::Sync => {
                // D3D11_SB_SYNC_*, from bit 11.
                let flag = |bit: u32| instruction.token >> bit & 1 != 0;
                let barrier =
                    Barrier { group_sync: flag(11), group_shared: flag(12), uav_group: flag(13), uav_global: flag(14) };
                self.push(Op::Barrier(barrier), Type::Void);
            }
            Opcode::Emit
            | Opcode::Cut
            | Opcode::EmitThenCut
            | Opcode::EmitStream
            | Opcode::CutStream
            | Opcode::EmitThenCutStream => {
                let stream = operands.first().and_then(Operand::register).unwrap_or(0).min(3) as u8;
                let emit = !matches!(instruction.opcode, Opcode::Cut | Opcode::CutStream);
                let cut = !matches!(instruction.opcode, Opcode::Emit | Opcode::EmitStream);
                if emit {
                    self.store_outputs_of(Some(stream))?;
                }
                self.push(Op::EmitVertex { stream, emit, cut }, Type::Void);
            }
            Opcode::EvalCentroid | Opcode::EvalSampleIndex | Opcode::EvalSnapped => self.evaluate(instruction)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `eval_*`: an input interpolated elsewhere.
    fn evaluate(&mut self, instruction: &Instruction) -> Result<()> {
        let operands = &instruction.operands;
        let at = match instruction.opcode {
            Opcode::EvalSampleIndex => EvaluateAt::Sample(self.source(&operands[2], &[0], Scalar::I32)?),
            Opcode::EvalSnapped => {
                let x = self.source(&operands[2], &[0], Scalar::I32)?;
                let y = self.source(&operands[2], &[1], Scalar::I32)?;
                EvaluateAt::Snapped(x, y)
            }
            _ => EvaluateAt::Centroid,
        };
        let input = &operands[1];
        let Some(register) = input.indices.last().filter(|_| input.file == RegisterFile::Input) else {
            return Err(Error::malformed("interpolation of what is no input"));
        };
        let written = components(operands[0].selection.mask());
        let sources: SmallVec<[u8; 4]> = written.iter().map(|component| input.selection.source(*component)).collect();
        let lanes = if register.relative.is_some() {
            let (first, count) = self.index_range(input.file, register.base)?;
            let variable = self.range_variable(input.file, first, count, Scalar::F32);
            self.fill(variable, first, count, SignatureKind::Input, |this, register, there| {
                this.interpolated(register, there, at)
            })?;
            let index = self.index_value(register)?;
            let negative = self.i32(first.wrapping_neg());
            let index = self.add(index, negative);
            self.load_variable(variable, index, &sources)
        } else {
            self.interpolated(register.base, &sources, at)?
        };
        let value = self.combine(&lanes, Scalar::F32);
        let value = self.modified(input, value);
        self.write(&operands[0], value)
    }
}

impl FunctionLowering<'_, '_> {
    /// Components of an input, interpolated elsewhere.
    fn interpolated(&mut self, register: u32, sources: &[u8], at: EvaluateAt) -> Result<Lanes> {
        let list = self.signature(SignatureKind::Input);
        let mut lanes = Lanes::new();
        for &source in sources {
            let Some(index) = element_at(list, register, source, 0) else {
                return Err(Error::malformed("an input register that no signature element has"));
            };
            let element = &list[index];
            let row = self.i32(register - element.register.unwrap_or(register));
            let component = source.saturating_sub(element.first_component());
            let op = Op::EvaluateInput { element: ElementId(index as u32), row, component, at };
            lanes.push(self.push(op, Type::F32));
        }
        Ok(lanes)
    }
}

fn covers(range: &IndexedRegisters, register: u32) -> bool {
    register >= range.first && register - range.first < range.count
}

impl ModuleLowering<'_> {
    /// The control point phase of a hull shader that has none: each output is the input of its register.
    pub(super) fn pass_through(&mut self) -> Result<FunctionId> {
        let mut function = Function::new("control_point", Type::Void);
        let entry = function.entry;
        let mut builder = Builder::new(&mut function, entry);
        let vertex = builder.push(Op::SystemValue(SystemValue::OutputControlPointId), Type::I32);
        for (index, output) in self.entry.outputs.iter().enumerate() {
            let same = |input: &&SignatureElement| input.register == output.register && input.mask == output.mask;
            let Some(input) = self.entry.inputs.iter().find(same) else {
                return Err(Error::unsupported(format!("hull shader output without an input: {}", output.semantic)));
            };
            let element = self.entry.inputs.iter().position(|other| std::ptr::eq(other, input)).unwrap_or(0);
            let ty = Type::new(element_scalar(output).unwrap_or(Scalar::F32), output.components().min(4));
            for row in 0..output.rows.min(input.rows) {
                let row = builder.i32(row);
                let load = Op::LoadInput {
                    signature: SignatureKind::Input,
                    element: ElementId(element as u32),
                    row,
                    component: 0,
                    vertex: Some(vertex),
                };
                let value = builder.push(load, ty);
                let store = Op::StoreOutput {
                    signature: SignatureKind::Output,
                    element: ElementId(index as u32),
                    row,
                    component: 0,
                    vertex: None,
                    value,
                };
                builder.effect(store);
            }
        }
        builder.terminate(Terminator::Return(None));
        self.module.functions.push(function);
        Ok(FunctionId(self.module.functions.len() as u32 - 1))
    }
}
