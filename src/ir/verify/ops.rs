//! Types of operands and results, for each operation.

use super::Verifier;
use crate::{
    ir::{
        AtomicOp, BinaryOp, BindingId, BufferAddress, CompareOp, ConvertOp, ElementId, EvaluateAt, Gather,
        MAX_RAY_QUERIES, Op, RayQueryOp, ReduceOp, Sample, SampleLevel, Scalar, SignatureKind, TernaryOp, Type,
        UnaryOp, Value, VariableId, VariableSpace, WaveOp,
    },
    reflection::{Binding, ResourceClass, ResourceKind, TextureDimension},
};

/// The rule that does not hold.
type Check<T = ()> = Result<T, String>;

/// The rule holds, or is named.
fn check(holds: bool, rule: &str) -> Check {
    if holds { Ok(()) } else { Err(rule.to_owned()) }
}

/// What a texture operation needs to know of its texture.
struct Texture {
    dimension: TextureDimension,
    writable: bool,
}

impl Texture {
    /// Lanes of coordinates with the array layer.
    fn lanes(&self) -> u8 {
        self.dimension.coordinates() + u8::from(self.dimension.is_arrayed())
    }
}

impl Verifier<'_> {
    /// Checks one instruction.
    pub(super) fn op(&self, value: Value, op: &Op) -> Check {
        let result = self.ty(value);
        match op {
            Op::Unary(op, a) => self.unary(*op, self.ty(*a), result),
            Op::Binary(op, a, b) => self.binary(*op, self.ty(*a), self.ty(*b), result),
            Op::Compare(op, a, b) => self.compare(*op, self.ty(*a), self.ty(*b), result),
            Op::Ternary(op, a, b, c) => self.ternary(*op, [self.ty(*a), self.ty(*b), self.ty(*c)], result),
            Op::BitfieldInsert { width, offset, insert, base } => {
                check(is_int(result), "bitfield_insert gives integers")?;
                let same = [width, offset, insert, base].iter().all(|value| self.ty(**value) == result);
                check(same, "operands have the result's type")
            }
            Op::Select { condition, accept, reject } => {
                let condition = self.ty(*condition);
                check(
                    condition == Type::BOOL || condition == result.with_scalar(Scalar::Bool),
                    "a select's condition is bool, scalar or of the result's lanes",
                )?;
                check(result.scalar().is_some(), "select gives numbers")?;
                check(self.ty(*accept) == result && self.ty(*reject) == result, "operands have the result's type")
            }
            Op::Dot(a, b) => {
                check(matches!(self.ty(*a), Type::Vector(..)) && is_float(self.ty(*a)), "dot takes float vectors")?;
                check(self.ty(*a) == self.ty(*b), "operands have one type")?;
                check(self.ty(*a).scalar().map(Type::Scalar) == Some(result), "dot gives a scalar of the lanes' type")
            }
            Op::Convert(op, a) => convert(*op, self.ty(*a), result),
            Op::Extract(vector, lane) => {
                let Type::Vector(scalar, lanes) = self.ty(*vector) else { return Err("extract takes a vector".into()) };
                check(*lane < lanes, "the lane exists")?;
                check(result == Type::Scalar(scalar), "extract gives a lane")
            }
            Op::ExtractDynamic(vector, index) => {
                let Type::Vector(scalar, _) = self.ty(*vector) else { return Err("extract takes a vector".into()) };
                self.is_i32(*index, "the lane is i32")?;
                check(result == Type::Scalar(scalar), "extract gives a lane")
            }
            Op::Compose(lanes) => {
                let Type::Vector(scalar, count) = result else { return Err("compose gives a vector".into()) };
                check(lanes.len() == count as usize, "one operand for each lane")?;
                check(lanes.iter().all(|lane| self.ty(*lane) == Type::Scalar(scalar)), "lanes are scalars of its type")
            }
            Op::Swizzle(vector, order) => {
                let Type::Vector(scalar, count) = result else { return Err("swizzle gives a vector".into()) };
                let from = self.ty(*vector);
                check(from.scalar() == Some(scalar), "lanes keep their type")?;
                check(order.len() == count as usize, "one source for each lane")?;
                check(order.iter().all(|lane| *lane < from.lanes()), "the lanes exist")
            }
            Op::LoadInput { signature, element, row, component, vertex } => {
                self.element(*signature, *element)?;
                self.row(*row, *vertex)?;
                components(result, *component)
            }
            Op::EvaluateInput { element, row, component, at } => {
                self.element(SignatureKind::Input, *element)?;
                self.row(*row, None)?;
                match at {
                    EvaluateAt::Centroid => {}
                    EvaluateAt::Sample(sample) => self.is_i32(*sample, "a sample is i32")?,
                    EvaluateAt::Snapped(x, y) => {
                        self.is_i32(*x, "an offset is i32")?;
                        self.is_i32(*y, "an offset is i32")?;
                    }
                }
                check(is_float(result), "interpolation gives floats")?;
                components(result, *component)
            }
            Op::LoadInputAtVertex { element, row, component, vertex } => {
                self.element(SignatureKind::Input, *element)?;
                self.row(*row, None)?;
                check(*vertex < 3, "a triangle has three vertices")?;
                components(result, *component)
            }
            Op::StoreOutput { signature, element, row, component, vertex, value } => {
                check(*signature != SignatureKind::Input, "inputs are not written")?;
                self.element(*signature, *element)?;
                self.row(*row, *vertex)?;
                check(result == Type::Void, "a store has no result")?;
                components(self.ty(*value), *component)
            }
            Op::SystemValue(_) => check(result.scalar().is_some(), "a system value is a number"),
            Op::LoadVariable { variable, index, component } => {
                let element = self.variable(*variable, *index, *component)?;
                check(element == result, "a load gives the element's type")
            }
            Op::StoreVariable { variable, index, component, value } => {
                let element = self.variable(*variable, *index, *component)?;
                check(element == self.ty(*value), "a store takes the element's type")?;
                let space = self.module.variables[variable.index()].space;
                check(super::is_writable(space), "constant variables are not written")?;
                check(result == Type::Void, "a store has no result")
            }
            Op::AtomicVariable { op, variable, index, value, compare } => {
                let element = self.variable(*variable, *index, None)?;
                let space = self.module.variables[variable.index()].space;
                check(space == VariableSpace::GroupShared, "atomics are on group-shared variables")?;
                check(element == result, "an atomic gives the element's type")?;
                self.atomic(*op, result, *value, *compare)
            }
            Op::Handle { binding, index, .. } => {
                check(binding.index() < self.interface.bindings.len(), "the binding exists")?;
                self.is_i32(*index, "an array index is i32")?;
                check(result == Type::Handle, "it gives a handle")
            }
            Op::ChooseHandle { which, choices } => {
                self.is_i32(*which, "a number is i32")?;
                check(!choices.is_empty(), "there is something to choose")?;
                let mut numbers: Vec<u32> = choices.iter().map(|choice| choice.0).collect();
                numbers.sort_unstable();
                check(numbers.windows(2).all(|pair| pair[0] < pair[1]), "choices' numbers differ")?;
                let made = |choice: &(u32, Value)| matches!(self.function.op(choice.1), Some(Op::Handle { .. }));
                check(choices.iter().all(made), "choices are among handles of bindings")?;
                check(result == Type::Handle, "it gives a handle")
            }
            Op::LoadConstant { handle, row, offset } => {
                let binding = self.handle(*handle)?;
                let constant =
                    matches!(binding.kind, ResourceKind::ConstantBuffer { .. } | ResourceKind::TextureBuffer { .. });
                check(constant, "load_constant reads constant buffers")?;
                self.is_i32(*row, "a row is i32")?;
                let bytes = result.scalar().filter(|&scalar| scalar != Scalar::Bool).map_or(0, Scalar::bytes);
                check(bytes != 0, "memory holds numbers")?;
                check(u32::from(*offset) % bytes == 0, "the offset is a multiple of the scalar's size")?;
                let end = u32::from(*offset) + bytes * u32::from(result.lanes());
                check(end <= 16, "the result does not cross the row's end")
            }
            Op::LoadBuffer { handle, address } => {
                self.buffer(*handle, address)?;
                check(is_number(result), "memory holds numbers")
            }
            Op::StoreBuffer { handle, address, value } => {
                let binding = self.buffer(*handle, address)?;
                check(binding.class == ResourceClass::Uav, "unordered-access views are written")?;
                check(is_number(self.ty(*value)), "memory holds numbers")?;
                check(result == Type::Void, "a store has no result")
            }
            Op::AtomicBuffer { op, handle, address, value, compare } => {
                let binding = self.buffer(*handle, address)?;
                check(binding.class == ResourceClass::Uav, "unordered-access views are written")?;
                self.atomic(*op, result, *value, *compare)
            }
            Op::UpdateCounter { handle, .. } => {
                let binding = self.handle(*handle)?;
                let structured = matches!(binding.kind, ResourceKind::StructuredBuffer { .. });
                check(structured && binding.class == ResourceClass::Uav, "structured buffers have counters")?;
                check(result == Type::I32, "a counter is i32")
            }
            Op::LoadTexture { handle, coordinates, level, sample, offset } => {
                let texture = self.texture(*handle)?;
                self.is(*coordinates, Scalar::I32, texture.lanes(), "coordinates are i32 of the texture's shape")?;
                let multisampled = texture.dimension.is_multisampled();
                check(level.is_some() != (multisampled || texture.writable), "a level where the texture has several")?;
                self.sample(&texture, *sample)?;
                if let Some(level) = level {
                    self.is_i32(*level, "a level is i32")?;
                }
                self.offset(&texture, *offset)?;
                check(is_number(result), "texels are numbers")
            }
            Op::StoreTexture { handle, coordinates, sample, value } => {
                let texture = self.texture(*handle)?;
                check(texture.writable, "unordered-access views are written")?;
                self.is(*coordinates, Scalar::I32, texture.lanes(), "coordinates are i32 of the texture's shape")?;
                self.sample(&texture, *sample)?;
                check(is_number(self.ty(*value)) && self.ty(*value).lanes() == 4, "a texel has four components")?;
                check(result == Type::Void, "a store has no result")
            }
            Op::AtomicTexture { op, handle, coordinates, value, compare } => {
                let texture = self.texture(*handle)?;
                check(texture.writable, "unordered-access views are written")?;
                self.is(*coordinates, Scalar::I32, texture.lanes(), "coordinates are i32 of the texture's shape")?;
                self.atomic(*op, result, *value, *compare)
            }
            Op::Sample(sample) => self.sampling(sample, result),
            Op::Gather(gather) => self.gather(gather, result),
            Op::CalculateLod { texture, sampler, coordinates, .. } => {
                let texture = self.texture(*texture)?;
                self.sampler(*sampler)?;
                let lanes = texture.dimension.coordinates();
                self.is(*coordinates, Scalar::F32, lanes, "coordinates are f32 of the texture's shape, without layer")?;
                check(result == Type::F32, "a level is f32")
            }
            Op::TextureSize { handle, level } => {
                self.texture(*handle)?;
                if let Some(level) = level {
                    self.is_i32(*level, "a level is i32")?;
                }
                check(result == Type::Vector(Scalar::I32, 4), "a size is i32x4")
            }
            Op::BufferSize { handle } => {
                let binding = self.handle(*handle)?;
                check(is_buffer(binding), "buffer_size is of buffers")?;
                check(result == Type::I32, "a size is i32")
            }
            Op::SampleCount(handle) => {
                handle.map_or(Ok(()), |handle| self.texture(handle).map(|_| ()))?;
                check(result == Type::I32, "a count is i32")
            }
            Op::SamplePosition { handle, sample } => {
                handle.map_or(Ok(()), |handle| self.texture(handle).map(|_| ()))?;
                self.is_i32(*sample, "a sample is i32")?;
                check(result == Type::Vector(Scalar::F32, 2), "a position is f32x2")
            }
            Op::Derivative(_, _, a) => {
                check(is_float(result) && self.ty(*a) == result, "a derivative is of a float, and of its type")
            }
            Op::Discard(condition) => {
                check(self.ty(*condition) == Type::BOOL, "a condition is bool")?;
                check(result == Type::Void, "discard has no result")
            }
            Op::IsHelperLane => check(result == Type::BOOL, "is_helper_lane is bool"),
            Op::Barrier(_) | Op::EmitVertex { .. } => check(result == Type::Void, "it has no result"),
            Op::SetMeshOutputCounts { vertices, primitives } => {
                check(result == Type::Void, "it has no result")?;
                self.is_i32(*vertices, "a number of vertices is i32")?;
                self.is_i32(*primitives, "a number of primitives is i32")
            }
            Op::EmitIndices { primitive, indices } => {
                check(result == Type::Void, "it has no result")?;
                self.is_i32(*primitive, "a primitive is i32")?;
                check(matches!(indices.len(), 2 | 3), "a primitive is a line or a triangle")?;
                indices.iter().try_for_each(|index| self.is_i32(*index, "a vertex is i32"))
            }
            Op::DispatchMesh { groups, payload, first, words } => {
                check(result == Type::Void, "it has no result")?;
                groups.iter().try_for_each(|count| self.is_i32(*count, "a number of groups is i32"))?;
                let element = self.variable(*payload, *first, None)?;
                let data = &self.module.variables[payload.index()];
                let owned = matches!(data.space, VariableSpace::GroupShared | VariableSpace::Thread);
                check(owned, "a payload is group-shared or of the thread")?;
                check(matches!(element, Type::I32 | Type::F32), "a payload is of 32-bit scalars")?;
                check(*words <= data.len, "a payload is within its variable")
            }
            Op::Wave(op, operands) => self.wave(*op, operands, result),
            Op::RayQuery { op, query, operands } => {
                check(*query < MAX_RAY_QUERIES, "a function has few ray queries")?;
                let vector = Type::Vector(Scalar::F32, 3);
                let (operands, wanted): (&[Value], &[Type]) = match op {
                    RayQueryOp::Trace => {
                        let Some((structure, rest)) = operands.split_first() else {
                            return Err("a search has an acceleration structure".into());
                        };
                        let binding = self.handle(*structure)?;
                        let is_structure = binding.kind == ResourceKind::AccelerationStructure;
                        check(is_structure, "an acceleration structure operand is one")?;
                        (rest, &[Type::I32, Type::I32, vector, Type::F32, vector, Type::F32])
                    }
                    RayQueryOp::Proceed | RayQueryOp::CommitTriangle | RayQueryOp::IsNonOpaque | RayQueryOp::Abort => {
                        (operands, &[])
                    }
                    RayQueryOp::CommitProcedural => (operands, &[Type::F32]),
                };
                let fits = operands.len() == wanted.len()
                    && operands.iter().zip(wanted).all(|(&operand, &ty)| self.ty(operand) == ty);
                check(fits, "operands of ray queries are of their types")?;
                let tells = matches!(op, RayQueryOp::Proceed | RayQueryOp::IsNonOpaque);
                check(result == if tells { Type::BOOL } else { Type::Void }, "questions alone have a result, a bool")
            }
            Op::LoadRayQuery { query, field, column, .. } => {
                check(*query < MAX_RAY_QUERIES, "a function has few ray queries")?;
                check(*column < field.columns(), "the column exists")?;
                check(result == field.ty(), "a field has its type")
            }
            Op::ChooseRayQuery { which, queries, op } => {
                self.is_i32(*which, "a number is i32")?;
                check(!queries.is_empty(), "there is something to choose")?;
                let mut numbers = queries.clone();
                numbers.sort_unstable();
                check(numbers.windows(2).all(|pair| pair[0] < pair[1]), "choices' numbers differ")?;
                check(numbers.iter().all(|query| *query < MAX_RAY_QUERIES), "a function has few ray queries")?;
                let is_of_query = matches!(**op, Op::RayQuery { .. } | Op::LoadRayQuery { .. });
                check(is_of_query, "operations of ray queries choose among them")?;
                self.op(value, op)
            }
            Op::Call(callee, args) => {
                // The caller has seen to it that the function exists.
                let callee = &self.module.functions[callee.index()];
                let params = callee.blocks.get(callee.entry.index()).map_or(&[][..], |block| &block.params);
                check(params.len() == args.len(), "a call brings an argument for each parameter")?;
                let fits = params
                    .iter()
                    .zip(args)
                    .all(|(param, arg)| callee.values.get(param.index()).is_some_and(|data| data.ty == self.ty(*arg)));
                check(fits, "an argument has its parameter's type")?;
                check(result == callee.result, "a call gives the function's result")
            }
        }
    }

    fn unary(&self, op: UnaryOp, a: Type, result: Type) -> Check {
        use UnaryOp::*;
        match op {
            FNeg | FAbs | FSaturate | FRcp | FSqrt | FRsqrt | FExp2 | FLog2 | FSin | FCos | FTan | FAsin | FAcos
            | FAtan | FSinh | FCosh | FTanh | FFract | FRoundEven | FFloor | FCeil | FTrunc => {
                check(is_float(a) && a == result, "a float, and a result of its type")
            }
            INeg | ReverseBits => check(is_int(a) && a == result, "an integer, and a result of its type"),
            Not => check((is_int(a) || is_bool(a)) && a == result, "an integer or bool, and a result of its type"),
            CountBits | FirstBitLow | FirstBitHigh | FirstBitSignedHigh => {
                check(is_int(a) && result == a.with_scalar(Scalar::I32), "an integer, and an i32 result")
            }
        }
    }

    fn binary(&self, op: BinaryOp, a: Type, b: Type, result: Type) -> Check {
        use BinaryOp::*;
        check(a == result && b == result, "operands have the result's type")?;
        match op {
            FAdd | FSub | FMul | FDiv | FRem | FMin | FMax => check(is_float(a), "operands are floats"),
            IAdd | ISub | IMul | SMulHigh | UMulHigh | SDiv | UDiv | SRem | URem | SMin | SMax | UMin | UMax | Shl
            | LShr | AShr => check(is_int(a), "operands are integers"),
            And | Or | Xor => check(is_int(a) || is_bool(a), "operands are integers or bool"),
        }
    }

    fn compare(&self, op: CompareOp, a: Type, b: Type, result: Type) -> Check {
        use CompareOp::*;
        check(a == b, "operands have one type")?;
        check(result == a.with_scalar(Scalar::Bool), "a comparison gives bool lanes")?;
        match op {
            FEq | FNe | FLt | FLe | FGt | FGe => check(is_float(a), "operands are floats"),
            IEq | INe => check(is_int(a) || is_bool(a), "operands are integers or bool"),
            SLt | SLe | SGt | SGe | ULt | ULe | UGt | UGe => check(is_int(a), "operands are integers"),
        }
    }

    fn ternary(&self, op: TernaryOp, operands: [Type; 3], result: Type) -> Check {
        check(operands.iter().all(|ty| *ty == result), "operands have the result's type")?;
        match op {
            TernaryOp::FMad | TernaryOp::FFma => check(is_float(result), "operands are floats"),
            TernaryOp::IMad | TernaryOp::UBitfieldExtract | TernaryOp::SBitfieldExtract => {
                check(is_int(result), "operands are integers")
            }
            TernaryOp::Msad => check(result.scalar() == Some(Scalar::I32), "operands are i32"),
        }
    }

    fn wave(&self, op: WaveOp, operands: &[Value], result: Type) -> Check {
        let types: Vec<Type> = operands.iter().map(|operand| self.ty(*operand)).collect();
        let masks = Type::Vector(Scalar::I32, 4);
        let (expected, given): (&[Type], Type) = match (op, types.as_slice()) {
            (WaveOp::IsFirstLane, _) => (&[], Type::BOOL),
            (WaveOp::LaneIndex | WaveOp::LaneCount, _) => (&[], Type::I32),
            (WaveOp::AnyTrue | WaveOp::AllTrue | WaveOp::QuadAny | WaveOp::QuadAll, _) => (&[Type::BOOL], Type::BOOL),
            (WaveOp::AllEqual, &[a]) => (&[a], a.with_scalar(Scalar::Bool)),
            (WaveOp::Ballot, _) => (&[Type::BOOL], masks),
            (WaveOp::ReadLaneAt | WaveOp::QuadReadLaneAt, &[a, ..]) => (&[a, Type::I32], a),
            (
                WaveOp::ReadLaneFirst
                | WaveOp::QuadReadAcrossX
                | WaveOp::QuadReadAcrossY
                | WaveOp::QuadReadAcrossDiagonal,
                &[a],
            ) => (&[a], a),
            (WaveOp::Reduce(reduce) | WaveOp::Prefix(reduce), &[a]) if reduces(reduce, a) => (&[a], a),
            (WaveOp::CountBits | WaveOp::PrefixCountBits, _) => (&[Type::BOOL], Type::I32),
            (WaveOp::Match, &[a]) => (&[a], masks),
            (WaveOp::MultiPrefix(reduce), &[a, _]) if reduces(reduce, a) => (&[a, masks], a),
            (WaveOp::MultiPrefixCountBits, _) => (&[Type::BOOL, masks], Type::I32),
            _ => return Err("a wave operation has its own operands".into()),
        };
        check(types == expected, "a wave operation has its own operands")?;
        check(given.scalar().is_some() && result == given, "a wave operation has its own result")
    }

    fn sampling(&self, sample: &Sample, result: Type) -> Check {
        let texture = self.sampled(sample.texture, sample.sampler, sample.coordinates)?;
        let gradient = "derivatives are f32 of the texture's shape, without layer";
        match sample.level {
            SampleLevel::Implicit | SampleLevel::Zero => {}
            SampleLevel::Bias(value) | SampleLevel::Level(value) => self.is_f32(value, "a level is f32")?,
            SampleLevel::Gradient(x, y) => {
                self.is(x, Scalar::F32, texture.dimension.coordinates(), gradient)?;
                self.is(y, Scalar::F32, texture.dimension.coordinates(), gradient)?;
            }
        }
        self.offset(&texture, sample.offset)?;
        if let Some(value) = sample.min_lod {
            self.is_f32(value, "a level is f32")?;
        }
        match sample.compare {
            Some(value) => {
                self.is_f32(value, "a reference is f32")?;
                check(matches!(result, Type::Scalar(scalar) if scalar.is_float()), "a comparison gives one float")
            }
            None => check(is_number(result) && result.lanes() == 4, "a sample has four components"),
        }
    }

    fn gather(&self, gather: &Gather, result: Type) -> Check {
        let texture = self.sampled(gather.texture, gather.sampler, gather.coordinates)?;
        check(gather.component < 4, "the component exists")?;
        if let Some(value) = gather.compare {
            self.is_f32(value, "a reference is f32")?;
        }
        self.offset(&texture, gather.offset)?;
        check(is_number(result) && result.lanes() == 4, "a gather has four components")
    }

    /// Texture, sampler and coordinates of a filtered read.
    fn sampled(&self, texture: Value, sampler: Value, coordinates: Value) -> Check<Texture> {
        let texture = self.texture(texture)?;
        check(!texture.writable && !texture.dimension.is_multisampled(), "sampling is of textures of one sample")?;
        self.sampler(sampler)?;
        self.is(coordinates, Scalar::F32, texture.lanes(), "coordinates are f32 of the texture's shape")?;
        Ok(texture)
    }

    fn atomic(&self, op: AtomicOp, result: Type, value: Value, compare: Option<Value>) -> Check {
        check(matches!(result, Type::Scalar(scalar) if scalar.is_int()), "atomics are on integers")?;
        check(self.ty(value) == result, "operands have the result's type")?;
        check(compare.is_some() == (op == AtomicOp::CompareExchange), "compare_exchange alone compares")?;
        check(compare.is_none_or(|value| self.ty(value) == result), "operands have the result's type")
    }

    /// The element exists in every entry point that runs the function.
    fn element(&self, signature: SignatureKind, element: ElementId) -> Check {
        let exists = self.entry_points.iter().all(|entry| {
            let elements = match signature {
                SignatureKind::Input => &entry.inputs,
                SignatureKind::Output => &entry.outputs,
                SignatureKind::PatchConstant => &entry.patch_constants,
            };
            element.index() < elements.len()
        });
        check(exists, "the element exists")
    }

    fn row(&self, row: Value, vertex: Option<Value>) -> Check {
        self.is_i32(row, "a row is i32")?;
        vertex.map_or(Ok(()), |vertex| self.is_i32(vertex, "a vertex is i32"))
    }

    /// Type of what an access to a variable reads or writes.
    fn variable(&self, variable: VariableId, index: Value, component: Option<u8>) -> Check<Type> {
        let Some(data) = self.module.variables.get(variable.index()) else {
            return Err("the variable exists".into());
        };
        self.is_i32(index, "an index is i32")?;
        match (component, data.element.scalar()) {
            (Some(component), Some(scalar)) => {
                check(component < data.element.lanes(), "the component exists")?;
                Ok(Type::Scalar(scalar))
            }
            _ => Ok(data.element),
        }
    }

    /// The binding of a handle; of a chosen one the first, which stands for all.
    fn handle(&self, handle: Value) -> Check<&Binding> {
        let first = match self.function.op(handle) {
            Some(Op::ChooseHandle { choices, .. }) => choices.first().map_or(handle, |choice| choice.1),
            _ => handle,
        };
        let binding = match self.function.op(first) {
            Some(Op::Handle { binding, .. }) => *binding,
            _ => return Err("a resource operand is a handle".into()),
        };
        let BindingId(index) = binding;
        self.interface.bindings.get(index as usize).ok_or_else(|| "the binding exists".to_owned())
    }

    fn sampler(&self, handle: Value) -> Check {
        let binding = self.handle(handle)?;
        check(matches!(binding.kind, ResourceKind::Sampler { .. }), "a sampler operand is a sampler")
    }

    fn texture(&self, handle: Value) -> Check<Texture> {
        let binding = self.handle(handle)?;
        let writable = binding.class == ResourceClass::Uav;
        match binding.kind {
            ResourceKind::Texture { dimension, .. } => Ok(Texture { dimension, writable }),
            ResourceKind::FeedbackTexture { arrayed: true, .. } => {
                Ok(Texture { dimension: TextureDimension::D2Array, writable })
            }
            ResourceKind::FeedbackTexture { arrayed: false, .. } => {
                Ok(Texture { dimension: TextureDimension::D2, writable })
            }
            _ => Err("a texture operand is a texture".into()),
        }
    }

    /// A buffer, and an address of the form that it takes.
    fn buffer(&self, handle: Value, address: &BufferAddress) -> Check<&Binding> {
        let binding = self.handle(handle)?;
        let (fits, operands) = match (binding.kind, *address) {
            (ResourceKind::TypedBuffer { .. } | ResourceKind::TextureBuffer { .. }, BufferAddress::Element(index)) => {
                (true, [index, index])
            }
            (ResourceKind::RawBuffer { .. }, BufferAddress::Byte(byte)) => (true, [byte, byte]),
            (ResourceKind::StructuredBuffer { .. }, BufferAddress::Structured(index, offset)) => {
                (true, [index, offset])
            }
            (_, BufferAddress::Element(index) | BufferAddress::Byte(index)) => (false, [index, index]),
            (_, BufferAddress::Structured(index, offset)) => (false, [index, offset]),
        };
        check(fits, "a buffer is addressed as its kind is")?;
        self.is_i32(operands[0], "an address is i32")?;
        self.is_i32(operands[1], "an address is i32")?;
        Ok(binding)
    }

    fn sample(&self, texture: &Texture, sample: Option<Value>) -> Check {
        check(sample.is_some() == texture.dimension.is_multisampled(), "a sample where the texture has several")?;
        sample.map_or(Ok(()), |sample| self.is_i32(sample, "a sample is i32"))
    }

    fn offset(&self, texture: &Texture, offset: Option<Value>) -> Check {
        let lanes = texture.dimension.coordinates();
        offset.map_or(Ok(()), |offset| {
            self.is(offset, Scalar::I32, lanes, "an offset is i32 of the texture's shape, without layer")
        })
    }

    fn is(&self, value: Value, scalar: Scalar, lanes: u8, rule: &str) -> Check {
        check(self.ty(value) == Type::new(scalar, lanes), rule)
    }

    fn is_i32(&self, value: Value, rule: &str) -> Check {
        self.is(value, Scalar::I32, 1, rule)
    }

    fn is_f32(&self, value: Value, rule: &str) -> Check {
        self.is(value, Scalar::F32, 1, rule)
    }
}

fn convert(op: ConvertOp, a: Type, result: Type) -> Check {
    let (Some(from), Some(to)) = (a.scalar(), result.scalar()) else {
        return Err("conversions are of numbers".into());
    };
    if op == ConvertOp::Bitcast {
        let halves = |whole: Type, pair: Type| {
            matches!(whole, Type::Scalar(scalar) if scalar.bits() == 64) && pair == Type::Vector(Scalar::I32, 2)
        };
        let lanes = a.lanes() == result.lanes() && from.bits() == to.bits() && from.bits() > 1;
        return check(lanes || halves(a, result) || halves(result, a), "a bitcast keeps the number of bits");
    }
    check(a.lanes() == result.lanes(), "a conversion keeps the number of lanes")?;
    let bits = from.bits().cmp(&to.bits());
    let fits = match op {
        ConvertOp::Bitcast => true,
        ConvertOp::FToS | ConvertOp::FToU => from.is_float() && to.is_int(),
        ConvertOp::SToF | ConvertOp::UToF => from.is_int() && to.is_float(),
        ConvertOp::FToF => from.is_float() && to.is_float() && bits.is_ne(),
        ConvertOp::SExt | ConvertOp::ZExt => !from.is_float() && to.is_int() && bits.is_lt(),
        ConvertOp::Trunc => from.is_int() && to.is_int() && bits.is_gt(),
        ConvertOp::F32ToF16Bits => from == Scalar::F32 && to == Scalar::I32,
        ConvertOp::F16BitsToF32 => from == Scalar::I32 && to == Scalar::F32,
        ConvertOp::IsNan | ConvertOp::IsInf | ConvertOp::IsFinite => from.is_float() && to == Scalar::Bool,
    };
    check(fits, "a conversion has types of its own")
}

/// Components from the first one on are those of a register.
fn components(ty: Type, first: u8) -> Check {
    check(is_number(ty), "elements hold numbers")?;
    check(first < 4 && first + ty.lanes() <= 4, "a register has four components")
}

fn reduces(op: ReduceOp, ty: Type) -> bool {
    match op {
        ReduceOp::FAdd | ReduceOp::FMul | ReduceOp::FMin | ReduceOp::FMax => is_float(ty),
        ReduceOp::IAdd | ReduceOp::IMul | ReduceOp::SMin | ReduceOp::SMax | ReduceOp::UMin | ReduceOp::UMax => {
            is_int(ty)
        }
        ReduceOp::And | ReduceOp::Or | ReduceOp::Xor => is_int(ty) || is_bool(ty),
    }
}

fn is_float(ty: Type) -> bool {
    ty.scalar().is_some_and(Scalar::is_float)
}

fn is_int(ty: Type) -> bool {
    ty.scalar().is_some_and(Scalar::is_int)
}

fn is_bool(ty: Type) -> bool {
    ty.scalar() == Some(Scalar::Bool)
}

/// A number or a vector of them that memory can hold.
fn is_number(ty: Type) -> bool {
    is_float(ty) || is_int(ty)
}

fn is_buffer(binding: &Binding) -> bool {
    matches!(
        binding.kind,
        ResourceKind::TypedBuffer { .. }
            | ResourceKind::RawBuffer { .. }
            | ResourceKind::StructuredBuffer { .. }
            | ResourceKind::TextureBuffer { .. }
    )
}
