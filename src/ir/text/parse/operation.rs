//! Operations and their operands.

use smallvec::SmallVec;

use super::{Arg, ArgKind, Parse, expected};
use crate::{
    ir::{
        AtomicOp, Axis, Barrier, BinaryOp, BindingId, BufferAddress, CompareOp, ConvertOp, DerivativePrecision,
        ElementId, EvaluateAt, FunctionId, Gather, Op, RayQueryField, RayQueryOp, Sample, SampleLevel, SignatureKind,
        TernaryOp, UnaryOp, Value, VariableId, WaveOp, text::names::Word,
    },
    reflection::SystemValue,
};

/// The operands of one operation. Those that were read are gone.
pub(super) struct Args<'t> {
    pub(super) args: std::collections::VecDeque<Option<Arg<'t>>>,
}

impl Args<'_> {
    /// The next operand without a name.
    fn next(&mut self) -> Option<ArgKind<'_>> {
        let position = self.args.iter().position(|arg| arg.as_ref().is_some_and(|arg| arg.name.is_none()))?;
        self.args[position].take().map(|arg| arg.kind)
    }

    fn value(&mut self) -> Parse<Value> {
        match self.next() {
            Some(ArgKind::Value(value)) => Ok(value),
            _ => expected("a value"),
        }
    }

    fn word(&mut self) -> Parse<String> {
        match self.next() {
            Some(ArgKind::Word(word)) => Ok(word.to_owned()),
            _ => expected("a word"),
        }
    }

    fn variant<T: Word>(&mut self) -> Parse<T> {
        let word = self.word()?;
        T::from_word(&word).map_or_else(|| expected(format!("another word than `{word}`")), Ok)
    }

    fn u8(&mut self) -> Parse<u8> {
        self.word()?.parse().or_else(|_| expected("a small number"))
    }

    /// `element3`.
    fn numbered(&mut self, word: &str) -> Parse<u32> {
        let found = self.word()?;
        let number = found.strip_prefix(word).and_then(|number| number.parse().ok());
        number.map_or_else(|| expected(format!("a number of a {word}")), Ok)
    }

    /// The word, if it is there.
    fn flag(&mut self, word: &str) -> bool {
        let position = self.args.iter().position(|arg| {
            arg.as_ref().is_some_and(|arg| arg.name.is_none() && matches!(arg.kind, ArgKind::Word(w) if w == word))
        });
        position.is_some_and(|position| self.args[position].take().is_some())
    }

    fn find(&mut self, name: &str) -> Option<ArgKind<'_>> {
        let position = self.args.iter().position(|arg| arg.as_ref().is_some_and(|arg| arg.name == Some(name)))?;
        self.args[position].take().map(|arg| arg.kind)
    }

    fn named(&mut self, name: &str) -> Parse<Option<Value>> {
        match self.find(name) {
            None => Ok(None),
            Some(ArgKind::Value(value)) => Ok(Some(value)),
            Some(ArgKind::Word(_)) => expected(format!("a value of {name}")),
        }
    }

    fn option(&mut self, name: &str) -> Parse<Option<u8>> {
        match self.find(name) {
            None => Ok(None),
            Some(ArgKind::Word(word)) if let Ok(number) = word.parse() => Ok(Some(number)),
            Some(_) => expected(format!("a number of {name}")),
        }
    }

    fn address(&mut self) -> Parse<BufferAddress> {
        if let Some(element) = self.named("element")? {
            return Ok(BufferAddress::Element(element));
        }
        if let Some(byte) = self.named("byte")? {
            return Ok(BufferAddress::Byte(byte));
        }
        match (self.named("index")?, self.named("offset")?) {
            (Some(index), Some(offset)) => Ok(BufferAddress::Structured(index, offset)),
            _ => expected("an address"),
        }
    }

    fn values<const N: usize>(&mut self) -> Parse<SmallVec<[Value; N]>>
    where
        [Value; N]: smallvec::Array<Item = Value>,
    {
        let mut values = SmallVec::new();
        while self.args.iter().flatten().any(|arg| arg.name.is_none()) {
            values.push(self.value()?);
        }
        Ok(values)
    }

    /// The operation of that name with these operands.
    pub(super) fn op(mut self, name: &str) -> Parse<Op> {
        let op = self.op_inner(name)?;
        match self.args.into_iter().flatten().next() {
            None => Ok(op),
            Some(Arg { name: Some(operand), .. }) => expected(format!("no `{operand}` in {name}")),
            Some(_) => expected(format!("fewer operands of {name}")),
        }
    }

    fn op_inner(&mut self, name: &str) -> Parse<Op> {
        if let Some(op) = UnaryOp::from_word(name) {
            return Ok(Op::Unary(op, self.value()?));
        }
        if let Some(op) = BinaryOp::from_word(name) {
            return Ok(Op::Binary(op, self.value()?, self.value()?));
        }
        if let Some(op) = CompareOp::from_word(name) {
            return Ok(Op::Compare(op, self.value()?, self.value()?));
        }
        if let Some(op) = TernaryOp::from_word(name) {
            return Ok(Op::Ternary(op, self.value()?, self.value()?, self.value()?));
        }
        if let Some(op) = ConvertOp::from_word(name) {
            return Ok(Op::Convert(op, self.value()?));
        }
        Ok(match name {
            "bitfield_insert" => Op::BitfieldInsert {
                width: self.value()?,
                offset: self.value()?,
                insert: self.value()?,
                base: self.value()?,
            },
            "select" => Op::Select { condition: self.value()?, accept: self.value()?, reject: self.value()? },
            "dot" => Op::Dot(self.value()?, self.value()?),
            "extract" => Op::Extract(self.value()?, self.u8()?),
            "extract_dynamic" => Op::ExtractDynamic(self.value()?, self.value()?),
            "compose" => Op::Compose(self.values()?),
            "swizzle" => {
                let vector = self.value()?;
                let order: Option<SmallVec<[u8; 4]>> =
                    self.word()?.chars().map(|lane| "xyzw".find(lane).map(|lane| lane as u8)).collect();
                Op::Swizzle(vector, order.map_or_else(|| expected("lanes"), Ok)?)
            }
            "load_input" => Op::LoadInput {
                signature: self.variant::<SignatureKind>()?,
                element: ElementId(self.numbered("element")?),
                row: self.value()?,
                component: self.u8()?,
                vertex: self.named("vertex")?,
            },
            "evaluate_input" => Op::EvaluateInput {
                element: ElementId(self.numbered("element")?),
                row: self.value()?,
                component: self.u8()?,
                at: if self.flag("centroid") {
                    EvaluateAt::Centroid
                } else if let Some(sample) = self.named("sample")? {
                    EvaluateAt::Sample(sample)
                } else {
                    match (self.named("x")?, self.named("y")?) {
                        (Some(x), Some(y)) => EvaluateAt::Snapped(x, y),
                        _ => return expected("where the input is evaluated"),
                    }
                },
            },
            "load_input_at_vertex" => Op::LoadInputAtVertex {
                element: ElementId(self.numbered("element")?),
                row: self.value()?,
                component: self.u8()?,
                vertex: self.u8()?,
            },
            "store_output" => Op::StoreOutput {
                signature: self.variant::<SignatureKind>()?,
                element: ElementId(self.numbered("element")?),
                row: self.value()?,
                component: self.u8()?,
                vertex: self.named("vertex")?,
                value: self.value()?,
            },
            "system_value" => Op::SystemValue(self.variant::<SystemValue>()?),
            "load_variable" => Op::LoadVariable {
                variable: VariableId(self.numbered("variable")?),
                index: self.value()?,
                component: self.option("component")?,
            },
            "store_variable" => Op::StoreVariable {
                variable: VariableId(self.numbered("variable")?),
                index: self.value()?,
                component: self.option("component")?,
                value: self.value()?,
            },
            "atomic_variable" => Op::AtomicVariable {
                op: self.variant::<AtomicOp>()?,
                variable: VariableId(self.numbered("variable")?),
                index: self.value()?,
                value: self.value()?,
                compare: self.named("compare")?,
            },
            "handle" => Op::Handle {
                binding: BindingId(self.numbered("binding")?),
                index: self.value()?,
                non_uniform: self.flag("non_uniform"),
            },
            "choose_handle" => {
                let which = self.value()?;
                let mut choices = SmallVec::new();
                while self.args.iter().flatten().any(|arg| arg.name.is_none()) {
                    let number = self.word()?.parse().or_else(|_| expected("a number"))?;
                    choices.push((number, self.value()?));
                }
                Op::ChooseHandle { which, choices }
            }
            "load_constant" => Op::LoadConstant { handle: self.value()?, row: self.value()?, offset: self.u8()? },
            "load_buffer" => Op::LoadBuffer { handle: self.value()?, address: self.address()? },
            "store_buffer" => Op::StoreBuffer { handle: self.value()?, address: self.address()?, value: self.value()? },
            "atomic_buffer" => Op::AtomicBuffer {
                op: self.variant::<AtomicOp>()?,
                handle: self.value()?,
                address: self.address()?,
                value: self.value()?,
                compare: self.named("compare")?,
            },
            "update_counter" => {
                let handle = self.value()?;
                match self.word()?.as_str() {
                    "increment" => Op::UpdateCounter { handle, increment: true },
                    "decrement" => Op::UpdateCounter { handle, increment: false },
                    _ => return expected("`increment` or `decrement`"),
                }
            }
            "load_texture" => Op::LoadTexture {
                handle: self.value()?,
                coordinates: self.value()?,
                level: self.named("level")?,
                sample: self.named("sample")?,
                offset: self.named("offset")?,
            },
            "store_texture" => Op::StoreTexture {
                handle: self.value()?,
                coordinates: self.value()?,
                sample: self.named("sample")?,
                value: self.value()?,
            },
            "atomic_texture" => Op::AtomicTexture {
                op: self.variant::<AtomicOp>()?,
                handle: self.value()?,
                coordinates: self.value()?,
                value: self.value()?,
                compare: self.named("compare")?,
            },
            "sample" => Op::Sample(Box::new(Sample {
                texture: self.value()?,
                sampler: self.value()?,
                coordinates: self.value()?,
                level: if self.flag("level_zero") {
                    SampleLevel::Zero
                } else if let Some(bias) = self.named("bias")? {
                    SampleLevel::Bias(bias)
                } else if let Some(level) = self.named("level")? {
                    SampleLevel::Level(level)
                } else {
                    match (self.named("gradient_x")?, self.named("gradient_y")?) {
                        (Some(x), Some(y)) => SampleLevel::Gradient(x, y),
                        (None, None) => SampleLevel::Implicit,
                        _ => return expected("both derivatives"),
                    }
                },
                compare: self.named("compare")?,
                offset: self.named("offset")?,
                min_lod: self.named("min_lod")?,
            })),
            "gather" => Op::Gather(Box::new(Gather {
                texture: self.value()?,
                sampler: self.value()?,
                coordinates: self.value()?,
                component: self.u8()?,
                compare: self.named("compare")?,
                offset: self.named("offset")?,
            })),
            "calculate_lod" => Op::CalculateLod {
                texture: self.value()?,
                sampler: self.value()?,
                coordinates: self.value()?,
                clamped: self.flag("clamped"),
            },
            "texture_size" => Op::TextureSize { handle: self.value()?, level: self.named("level")? },
            "buffer_size" => Op::BufferSize { handle: self.value()? },
            "sample_count" => Op::SampleCount(self.named("texture")?),
            "sample_position" => Op::SamplePosition { handle: self.named("texture")?, sample: self.value()? },
            "derivative" => {
                Op::Derivative(self.variant::<Axis>()?, self.variant::<DerivativePrecision>()?, self.value()?)
            }
            "discard" => Op::Discard(self.value()?),
            "is_helper_lane" => Op::IsHelperLane,
            "barrier" => Op::Barrier(Barrier {
                group_sync: self.flag("group_sync"),
                group_shared: self.flag("group_shared"),
                uav_group: self.flag("uav_group"),
                uav_global: self.flag("uav_global"),
            }),
            "wave" => Op::Wave(self.variant::<WaveOp>()?, self.values()?),
            "ray_query" => Op::RayQuery {
                op: self.variant::<RayQueryOp>()?,
                query: self.numbered("query")?,
                operands: self.values()?,
            },
            "load_ray_query" => Op::LoadRayQuery {
                field: self.variant::<RayQueryField>()?,
                query: self.numbered("query")?,
                column: self.u8()?,
                committed: self.flag("committed"),
            },
            "choose_ray_query" => {
                let which = self.value()?;
                let mut queries = SmallVec::new();
                let mut word = self.word()?;
                while let Some(query) = word.strip_prefix("query") {
                    queries.push(query.parse().or_else(|_| expected("a number of a query"))?);
                    word = self.word()?;
                }
                let op = match &*word {
                    "ray_query" | "load_ray_query" => Box::new(self.op_inner(&word)?),
                    _ => return expected("an operation of a ray query"),
                };
                Op::ChooseRayQuery { which, queries, op }
            }
            "call" => Op::Call(FunctionId(self.numbered("function")?), self.values()?),
            "emit_vertex" => Op::EmitVertex { stream: self.u8()?, emit: self.flag("emit"), cut: self.flag("cut") },
            "set_mesh_output_counts" => Op::SetMeshOutputCounts { vertices: self.value()?, primitives: self.value()? },
            "emit_indices" => Op::EmitIndices { primitive: self.value()?, indices: self.values()? },
            "dispatch_mesh" => Op::DispatchMesh {
                groups: [self.value()?, self.value()?, self.value()?],
                payload: VariableId(self.numbered("variable")?),
                first: self.value()?,
                words: self.numbered("")?,
            },
            _ => return expected(format!("an operation, not `{name}`")),
        })
    }
}
