//! Writes the text form.

use std::fmt::{self, Display, Formatter, Write};

use super::names::Word;
use crate::{
    ir::{
        Block, BufferAddress, Constant, Edge, EntryPoint, EvaluateAt, Function, FunctionId, Module, Op, SampleLevel,
        Scalar, SignatureKind, Terminator, Type, Value, ValueDef, Variable,
    },
    reflection::{Interface, ResourceClass, SignatureElement},
};

/// A module with the names of its interface. See [`Module::display`].
pub struct ModuleDisplay<'a> {
    module: &'a Module,
    interface: Option<&'a Interface>,
}

impl Module {
    /// The module as text, with the names of bindings and signature elements in comments.
    pub fn display<'a>(&'a self, interface: &'a Interface) -> ModuleDisplay<'a> {
        ModuleDisplay { module: self, interface: Some(interface) }
    }
}

impl Display for Module {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        ModuleDisplay { module: self, interface: None }.fmt(f)
    }
}

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        FunctionText { function: self, number: 0, interface: None }.fmt(f)
    }
}

impl Display for ModuleDisplay<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, variable) in self.module.variables.iter().enumerate() {
            write_variable(f, index, variable)?;
        }
        for (index, EntryPoint { stage, function, patch_constant_functions }) in
            self.module.entry_points.iter().enumerate()
        {
            write!(f, "entry {} function{}", stage.word(), function.0)?;
            for function in patch_constant_functions {
                write!(f, ", function{}", function.0)?;
            }
            if let Some(entry) = self.interface.and_then(|interface| interface.entry_points.get(index)) {
                write!(f, " // {}", entry.name.escape_debug())?;
            }
            writeln!(f)?;
        }
        for (index, function) in self.module.functions.iter().enumerate() {
            if index != 0 || !self.module.variables.is_empty() || !self.module.entry_points.is_empty() {
                writeln!(f)?;
            }
            let number = index as u32;
            // Elements are those of the first entry point that runs the function itself; a comment need not be more.
            let entry = self.module.entry_points.iter().position(|entry| {
                entry.function == FunctionId(number) || entry.patch_constant_functions.contains(&FunctionId(number))
            });
            let interface = self.interface.map(|interface| (interface, entry.unwrap_or(0)));
            FunctionText { function, number, interface }.fmt(f)?;
        }
        Ok(())
    }
}

fn write_variable(f: &mut Formatter<'_>, index: usize, variable: &Variable) -> fmt::Result {
    let Variable { name, space, element, len, initial } = variable;
    write!(f, "variable{index} {}: {} {element}[{len}]", Quoted(name), space.word())?;
    if let Some(initial) = initial {
        f.write_str(" = [")?;
        for (index, constant) in initial.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { ", " })?;
            write_constant(f, *element, constant)?;
        }
        f.write_str("]")?;
    }
    writeln!(f)
}

/// A name in quotes, on one line.
struct Quoted<'a>(&'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for character in self.0.chars() {
            match character {
                '"' | '\\' => write!(f, "\\{character}")?,
                '\n' => f.write_str("\\n")?,
                '\r' => f.write_str("\\r")?,
                _ => f.write_char(character)?,
            }
        }
        f.write_char('"')
    }
}

/// A constant with its type.
fn write_constant(f: &mut Formatter<'_>, ty: Type, constant: &Constant) -> fmt::Result {
    write!(f, "{ty}(")?;
    for (index, &bits) in constant.0.iter().enumerate() {
        f.write_str(if index == 0 { "" } else { ", " })?;
        match ty.scalar() {
            Some(Scalar::Bool) => write!(f, "{}", bits != 0)?,
            Some(Scalar::I16) => write!(f, "{}", bits as i16)?,
            Some(Scalar::I32) => write!(f, "{}", bits as i32)?,
            Some(Scalar::I64) => write!(f, "{}", bits as i64)?,
            Some(Scalar::F16) => {
                let number = half::f16::from_bits(bits as u16);
                if number.is_finite() { write!(f, "{:?}", number.to_f32())? } else { write!(f, "{bits:#x}")? }
            }
            Some(Scalar::F32) => {
                let number = f32::from_bits(bits as u32);
                if number.is_finite() { write!(f, "{number:?}")? } else { write!(f, "{bits:#x}")? }
            }
            Some(Scalar::F64) => {
                let number = f64::from_bits(bits);
                if number.is_finite() { write!(f, "{number:?}")? } else { write!(f, "{bits:#x}")? }
            }
            None => write!(f, "{bits:#x}")?,
        }
    }
    f.write_str(")")
}

/// A function, its number, and the interface with the number of the entry point.
struct FunctionText<'a> {
    function: &'a Function,
    number: u32,
    interface: Option<(&'a Interface, usize)>,
}

impl Display for FunctionText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Function { name, result, entry, blocks, .. } = self.function;
        writeln!(f, "function{} {} -> {result}, entry block{} {{", self.number, Quoted(name), entry.0)?;
        for (index, block) in blocks.iter().enumerate() {
            write!(f, "block{index}")?;
            for (index, &param) in block.params.iter().enumerate() {
                f.write_str(if index == 0 { "(" } else { ", " })?;
                self.write_definition(f, param)?;
            }
            f.write_str(if block.params.is_empty() { ":\n" } else { "):\n" })?;
            for &value in &block.insts {
                self.write_inst(f, value)?;
            }
            f.write_str("    ")?;
            self.write_terminator(f, &block.terminator)?;
            writeln!(f)?;
        }
        writeln!(f, "}}")
    }
}

impl FunctionText<'_> {
    /// `%7 "color": f32`.
    fn write_definition(&self, f: &mut Formatter<'_>, value: Value) -> fmt::Result {
        write!(f, "%{}", value.0)?;
        if let Some(name) = self.function.names.get(&value) {
            write!(f, " {}", Quoted(name))?;
        }
        match self.function.values.get(value.index()) {
            Some(data) => write!(f, ": {}", data.ty),
            None => f.write_str(": missing"),
        }
    }

    /// A use of a value. Faults, which only the verifier minds, are written too.
    fn write_value(&self, f: &mut Formatter<'_>, value: Value) -> fmt::Result {
        match self.function.values.get(value.index()) {
            Some(data) => match &data.def {
                ValueDef::Constant(constant) => write_constant(f, data.ty, constant),
                _ => write!(f, "%{}", value.0),
            },
            None => write!(f, "%{}", value.0),
        }
    }

    fn write_inst(&self, f: &mut Formatter<'_>, value: Value) -> fmt::Result {
        f.write_str("    ")?;
        let Some(inst) = self.function.inst(value) else { return writeln!(f, "%{} // removed", value.0) };
        if self.function.ty(value) != Type::Void {
            self.write_definition(f, value)?;
            f.write_str(" = ")?;
        }
        if inst.precise {
            f.write_str("precise ")?;
        }
        self.write_op(f, &inst.op)?;
        if inst.origin != 0 {
            write!(f, " #{}", inst.origin)?;
        }
        if let Some(comment) = self.comment(&inst.op) {
            write!(f, " // {}", comment.escape_debug())?;
        }
        writeln!(f)
    }

    /// The interface's name of what an operation is on.
    fn comment(&self, op: &Op) -> Option<String> {
        let (interface, entry) = self.interface?;
        let (signature, element) = match op {
            Op::Handle { binding, .. } => {
                let binding = interface.bindings.get(binding.index())?;
                let class = match binding.class {
                    ResourceClass::Cbv => 'b',
                    ResourceClass::Srv => 't',
                    ResourceClass::Uav => 'u',
                    ResourceClass::Sampler => 's',
                };
                let mut text = format!("{class}{}", binding.register);
                if binding.space != 0 {
                    text += &format!(" space{}", binding.space);
                }
                if let Some(name) = &binding.name {
                    text += &format!(" {name}");
                }
                return Some(text);
            }
            Op::LoadInput { signature, element, .. } | Op::StoreOutput { signature, element, .. } => {
                (*signature, *element)
            }
            Op::EvaluateInput { element, .. } | Op::LoadInputAtVertex { element, .. } => {
                (SignatureKind::Input, *element)
            }
            _ => return None,
        };
        let entry = interface.entry_points.get(entry)?;
        let elements = match signature {
            SignatureKind::Input => &entry.inputs,
            SignatureKind::Output => &entry.outputs,
            SignatureKind::PatchConstant => &entry.patch_constants,
        };
        let SignatureElement { semantic, semantic_indices, .. } = elements.get(element.index())?;
        Some(format!("{semantic}{}", semantic_indices.first().unwrap_or(&0)))
    }

    fn write_edge(&self, f: &mut Formatter<'_>, edge: &Edge) -> fmt::Result {
        let Block(block) = edge.block;
        write!(f, "block{block}")?;
        for (index, &arg) in edge.args.iter().enumerate() {
            f.write_str(if index == 0 { "(" } else { ", " })?;
            self.write_value(f, arg)?;
        }
        f.write_str(if edge.args.is_empty() { "" } else { ")" })
    }

    fn write_terminator(&self, f: &mut Formatter<'_>, terminator: &Terminator) -> fmt::Result {
        match terminator {
            Terminator::Jump(edge) => {
                f.write_str("jump ")?;
                self.write_edge(f, edge)
            }
            Terminator::Branch { condition, accept, reject } => {
                f.write_str("branch ")?;
                self.write_value(f, *condition)?;
                f.write_str(", ")?;
                self.write_edge(f, accept)?;
                f.write_str(", ")?;
                self.write_edge(f, reject)
            }
            Terminator::Switch { selector, cases, default } => {
                f.write_str("switch ")?;
                self.write_value(f, *selector)?;
                for (value, edge) in cases {
                    write!(f, ", {value}: ")?;
                    self.write_edge(f, edge)?;
                }
                f.write_str(", default: ")?;
                self.write_edge(f, default)
            }
            Terminator::Return(None) => f.write_str("return"),
            Terminator::Return(Some(value)) => {
                f.write_str("return ")?;
                self.write_value(f, *value)
            }
            Terminator::Unreachable => f.write_str("unreachable"),
        }
    }

    fn write_op(&self, f: &mut Formatter<'_>, op: &Op) -> fmt::Result {
        self.write_op_in(&mut Line { text: self, f, first: true }, op)
    }

    /// Writes an operation; within another one, as words of its line.
    fn write_op_in(&self, line: &mut Line<'_, '_, '_>, op: &Op) -> fmt::Result {
        match op {
            Op::ChooseRayQuery { which, queries, op } => {
                let line = line.op("choose_ray_query")?.values(&[*which])?;
                for query in queries {
                    line.word(format_args!("query{query}"))?;
                }
                line.separate()?;
                return self.write_op_in(line, op);
            }
            Op::Unary(op, a) => line.op(&op.word())?.values(&[*a]),
            Op::Binary(op, a, b) => line.op(&op.word())?.values(&[*a, *b]),
            Op::Compare(op, a, b) => line.op(&op.word())?.values(&[*a, *b]),
            Op::Ternary(op, a, b, c) => line.op(&op.word())?.values(&[*a, *b, *c]),
            Op::BitfieldInsert { width, offset, insert, base } => {
                line.op("bitfield_insert")?.values(&[*width, *offset, *insert, *base])
            }
            Op::Select { condition, accept, reject } => line.op("select")?.values(&[*condition, *accept, *reject]),
            Op::Dot(a, b) => line.op("dot")?.values(&[*a, *b]),
            Op::Convert(op, a) => line.op(&op.word())?.values(&[*a]),
            Op::Extract(vector, lane) => line.op("extract")?.values(&[*vector])?.word(lane),
            Op::ExtractDynamic(vector, lane) => line.op("extract_dynamic")?.values(&[*vector, *lane]),
            Op::Compose(lanes) => line.op("compose")?.values(lanes),
            Op::Swizzle(vector, order) => {
                let order: String = order.iter().map(|lane| ['x', 'y', 'z', 'w'][usize::from(lane & 3)]).collect();
                line.op("swizzle")?.values(&[*vector])?.word(order)
            }
            Op::LoadInput { signature, element, row, component, vertex } => line
                .op("load_input")?
                .word(signature.word())?
                .word(format_args!("element{}", element.0))?
                .values(&[*row])?
                .word(component)?
                .named("vertex", *vertex),
            Op::EvaluateInput { element, row, component, at } => {
                let line = line.op("evaluate_input")?.word(format_args!("element{}", element.0))?;
                let line = line.values(&[*row])?.word(component)?;
                match at {
                    EvaluateAt::Centroid => line.word("centroid"),
                    EvaluateAt::Sample(sample) => line.named("sample", Some(*sample)),
                    EvaluateAt::Snapped(x, y) => line.named("x", Some(*x))?.named("y", Some(*y)),
                }
            }
            Op::LoadInputAtVertex { element, row, component, vertex } => line
                .op("load_input_at_vertex")?
                .word(format_args!("element{}", element.0))?
                .values(&[*row])?
                .word(component)?
                .word(vertex),
            Op::StoreOutput { signature, element, row, component, vertex, value } => line
                .op("store_output")?
                .word(signature.word())?
                .word(format_args!("element{}", element.0))?
                .values(&[*row])?
                .word(component)?
                .named("vertex", *vertex)?
                .values(&[*value]),
            Op::SystemValue(value) => line.op("system_value")?.word(value.word()),
            Op::LoadVariable { variable, index, component } => line
                .op("load_variable")?
                .word(format_args!("variable{}", variable.0))?
                .values(&[*index])?
                .option("component", *component),
            Op::StoreVariable { variable, index, component, value } => line
                .op("store_variable")?
                .word(format_args!("variable{}", variable.0))?
                .values(&[*index])?
                .option("component", *component)?
                .values(&[*value]),
            Op::AtomicVariable { op, variable, index, value, compare } => line
                .op("atomic_variable")?
                .word(op.word())?
                .word(format_args!("variable{}", variable.0))?
                .values(&[*index, *value])?
                .named("compare", *compare),
            Op::Handle { binding, index, non_uniform } => {
                let line = line.op("handle")?.word(format_args!("binding{}", binding.0))?.values(&[*index])?;
                line.flag("non_uniform", *non_uniform)
            }
            Op::ChooseHandle { which, choices } => {
                let line = line.op("choose_handle")?.values(&[*which])?;
                for (number, handle) in choices {
                    line.word(number)?.values(&[*handle])?;
                }
                Ok(line)
            }
            Op::LoadConstant { handle, row, offset } => {
                line.op("load_constant")?.values(&[*handle, *row])?.word(offset)
            }
            Op::LoadBuffer { handle, address } => line.op("load_buffer")?.values(&[*handle])?.address(address),
            Op::StoreBuffer { handle, address, value } => {
                line.op("store_buffer")?.values(&[*handle])?.address(address)?.values(&[*value])
            }
            Op::AtomicBuffer { op, handle, address, value, compare } => line
                .op("atomic_buffer")?
                .word(op.word())?
                .values(&[*handle])?
                .address(address)?
                .values(&[*value])?
                .named("compare", *compare),
            Op::UpdateCounter { handle, increment } => {
                let line = line.op("update_counter")?.values(&[*handle])?;
                line.word(if *increment { "increment" } else { "decrement" })
            }
            Op::LoadTexture { handle, coordinates, level, sample, offset } => line
                .op("load_texture")?
                .values(&[*handle, *coordinates])?
                .named("level", *level)?
                .named("sample", *sample)?
                .named("offset", *offset),
            Op::StoreTexture { handle, coordinates, sample, value } => {
                line.op("store_texture")?.values(&[*handle, *coordinates])?.named("sample", *sample)?.values(&[*value])
            }
            Op::AtomicTexture { op, handle, coordinates, value, compare } => line
                .op("atomic_texture")?
                .word(op.word())?
                .values(&[*handle, *coordinates, *value])?
                .named("compare", *compare),
            Op::Sample(sample) => {
                let line = line.op("sample")?.values(&[sample.texture, sample.sampler, sample.coordinates])?;
                let line = match sample.level {
                    SampleLevel::Implicit => line,
                    SampleLevel::Bias(bias) => line.named("bias", Some(bias))?,
                    SampleLevel::Level(level) => line.named("level", Some(level))?,
                    SampleLevel::Zero => line.word("level_zero")?,
                    SampleLevel::Gradient(x, y) => line.named("gradient_x", Some(x))?.named("gradient_y", Some(y))?,
                };
                line.named("compare", sample.compare)?.named("offset", sample.offset)?.named("min_lod", sample.min_lod)
            }
            Op::Gather(gather) => line
                .op("gather")?
                .values(&[gather.texture, gather.sampler, gather.coordinates])?
                .word(gather.component)?
                .named("compare", gather.compare)?
                .named("offset", gather.offset),
            Op::CalculateLod { texture, sampler, coordinates, clamped } => {
                line.op("calculate_lod")?.values(&[*texture, *sampler, *coordinates])?.flag("clamped", *clamped)
            }
            Op::TextureSize { handle, level } => line.op("texture_size")?.values(&[*handle])?.named("level", *level),
            Op::BufferSize { handle } => line.op("buffer_size")?.values(&[*handle]),
            Op::SampleCount(handle) => line.op("sample_count")?.named("texture", *handle),
            Op::SamplePosition { handle, sample } => {
                line.op("sample_position")?.named("texture", *handle)?.values(&[*sample])
            }
            Op::Derivative(axis, precision, a) => {
                line.op("derivative")?.word(axis.word())?.word(precision.word())?.values(&[*a])
            }
            Op::Discard(condition) => line.op("discard")?.values(&[*condition]),
            Op::IsHelperLane => line.op("is_helper_lane"),
            Op::Barrier(barrier) => line
                .op("barrier")?
                .flag("group_sync", barrier.group_sync)?
                .flag("group_shared", barrier.group_shared)?
                .flag("uav_group", barrier.uav_group)?
                .flag("uav_global", barrier.uav_global),
            Op::Wave(op, operands) => line.op("wave")?.word(op.word())?.values(operands),
            Op::RayQuery { op, query, operands } => {
                line.op("ray_query")?.word(op.word())?.word(format_args!("query{query}"))?.values(operands)
            }
            Op::LoadRayQuery { query, committed, field, column } => line
                .op("load_ray_query")?
                .word(field.word())?
                .word(format_args!("query{query}"))?
                .word(column)?
                .flag("committed", *committed),
            Op::Call(function, args) => line.op("call")?.word(format_args!("function{}", function.0))?.values(args),
            Op::EmitVertex { stream, emit, cut } => {
                line.op("emit_vertex")?.word(stream)?.flag("emit", *emit)?.flag("cut", *cut)
            }
            Op::SetMeshOutputCounts { vertices, primitives } => {
                line.op("set_mesh_output_counts")?.values(&[*vertices, *primitives])
            }
            Op::EmitIndices { primitive, indices } => line.op("emit_indices")?.values(&[*primitive])?.values(indices),
            Op::DispatchMesh { groups, payload, first, words } => line
                .op("dispatch_mesh")?
                .values(groups)?
                .word(format_args!("variable{}", payload.0))?
                .values(&[*first])?
                .word(words),
        }?;
        Ok(())
    }
}

/// An operation and its operands, in the making.
struct Line<'l, 'a, 'f> {
    text: &'l FunctionText<'a>,
    f: &'l mut Formatter<'f>,
    first: bool,
}

impl<'l, 'a, 'f> Line<'l, 'a, 'f> {
    fn op(&mut self, name: &str) -> Result<&mut Self, fmt::Error> {
        self.f.write_str(name)?;
        Ok(self)
    }

    fn separate(&mut self) -> fmt::Result {
        self.f.write_str(if std::mem::take(&mut self.first) { " " } else { ", " })
    }

    fn values(&mut self, values: &[Value]) -> Result<&mut Self, fmt::Error> {
        for &value in values {
            self.separate()?;
            self.text.write_value(self.f, value)?;
        }
        Ok(self)
    }

    fn word(&mut self, word: impl Display) -> Result<&mut Self, fmt::Error> {
        self.separate()?;
        word.fmt(self.f)?;
        Ok(self)
    }

    fn flag(&mut self, word: &str, set: bool) -> Result<&mut Self, fmt::Error> {
        if set { self.word(word) } else { Ok(self) }
    }

    fn named(&mut self, name: &str, value: Option<Value>) -> Result<&mut Self, fmt::Error> {
        if let Some(value) = value {
            self.separate()?;
            write!(self.f, "{name}: ")?;
            self.text.write_value(self.f, value)?;
        }
        Ok(self)
    }

    fn option(&mut self, name: &str, number: Option<u8>) -> Result<&mut Self, fmt::Error> {
        match number {
            Some(number) => self.word(format_args!("{name}: {number}")),
            None => Ok(self),
        }
    }

    fn address(&mut self, address: &BufferAddress) -> Result<&mut Self, fmt::Error> {
        match *address {
            BufferAddress::Element(element) => self.named("element", Some(element)),
            BufferAddress::Byte(byte) => self.named("byte", Some(byte)),
            BufferAddress::Structured(index, offset) => self.named("index", Some(index))?.named("offset", Some(offset)),
        }
    }
}
