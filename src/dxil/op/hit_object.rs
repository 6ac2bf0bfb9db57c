//! Hit objects of Shader Model 6.9 (shader execution reordering): what a search found, apart from the shader that it runs.
//!
//! A hit object is a value of [`HIT_OBJECT_WORDS`] words, as [`Word`] has them, so that it goes through phis as any other.
//! Searches and shaders are the host's, as in [`ray`](super::ray): `hit_object_trace_ray` has the operands and the payload
//! of `trace_ray` and leaves its result in the variable `hit_object`; `hit_object_invoke` finds the object there, and
//! runs nothing if its [`Word::HasRecord`] is 0. Reordering is a hint, and nothing.

use smallvec::SmallVec;

use super::Call;
use crate::{
    Error, Result,
    dxil::{
        lower::{FunctionLowering, Lowered},
        module::HIT_OBJECT_WORDS,
    },
    ir::{BinaryOp, CompareOp, Op, RayQueryField, Scalar, Type, Value, VariableSpace},
};

type Lowering<'m, 'a> = FunctionLowering<'m, 'a>;

/// Words of a hit object: floats by their bits, matrices of three rows and four columns row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
enum Word {
    /// [`NOP`], [`MISS`] or [`HIT`].
    State = 0,
    /// There is a record of a shader table that [`Word::ShaderTableIndex`] tells.
    HasRecord = 1,
    ShaderTableIndex = 2,
    RayFlags = 3,
    TMin = 4,
    TCurrent = 5,
    /// Three.
    WorldOrigin = 6,
    /// Three.
    WorldDirection = 9,
    InstanceIndex = 12,
    InstanceId = 13,
    GeometryIndex = 14,
    PrimitiveIndex = 15,
    HitKind = 16,
    /// Twelve: the unit matrix if there is no hit.
    ObjectToWorld = 17,
    /// Twelve, likewise.
    WorldToObject = 29,
    /// Eight, `D3D12_RAYTRACING_MAX_ATTRIBUTE_SIZE_IN_BYTES`; zeros if there is no hit.
    Attributes = 41,
}

/// Words of attributes.
const ATTRIBUTES: u32 = 8;

/// States.
const NOP: u32 = 0;
const MISS: u32 = 1;
const HIT: u32 = 2;

/// `HIT_KIND_TRIANGLE_FRONT_FACE`, `HIT_KIND_TRIANGLE_BACK_FACE`.
const FRONT_FACE: u32 = 254;
const BACK_FACE: u32 = 255;

/// Name of the variable by which the host gets and gives hit objects.
const HIT_OBJECT: &str = "hit_object";

/// A hit object.
struct HitObject([Value; HIT_OBJECT_WORDS as usize]);

impl HitObject {
    fn get(&self, word: Word, element: u32) -> Value {
        self.0[(word as u32 + element) as usize]
    }

    fn set(&mut self, word: Word, element: u32, value: Value) {
        self.0[(word as u32 + element) as usize] = value;
    }

    fn lowered(self) -> Lowered {
        Lowered::Scalars(SmallVec::from_slice(&self.0))
    }
}

impl FunctionLowering<'_, '_> {
    /// The object that the first argument is.
    fn hit_object(&mut self, call: &Call<'_>) -> Result<HitObject> {
        let lowered = self.value(call.argument(0)?)?;
        let words = lowered.scalars()?.try_into();
        Ok(HitObject(words.map_err(|_| Error::malformed("argument is no hit object: 0"))?))
    }

    /// One that is neither a hit nor a miss.
    fn nop(&mut self) -> HitObject {
        let zero = self.function.i32(0);
        let mut object = HitObject([zero; HIT_OBJECT_WORDS as usize]);
        let one = self.function.i32(1f32.to_bits());
        for matrix in [Word::ObjectToWorld, Word::WorldToObject] {
            for diagonal in 0..3 {
                object.set(matrix, diagonal * 5, one);
            }
        }
        object
    }

    fn i32_bits(&mut self, value: Value) -> Value {
        self.build().bitcast(value, Scalar::I32)
    }

    /// The object as numbers of the host's variable.
    fn give_hit_object(&mut self, object: &HitObject) {
        let variable = self.parent.interface_variable(HIT_OBJECT, HIT_OBJECT_WORDS);
        for (index, &value) in (0..).zip(&object.0) {
            let mut build = self.build();
            let index = build.i32(index);
            build.effect(Op::StoreVariable { variable, index, component: None, value });
        }
    }

    /// What the object is, as a `bool`.
    fn is_state(&mut self, object: &HitObject, state: u32) -> Value {
        let word = object.get(Word::State, 0);
        let mut build = self.build();
        let state = build.i32(state);
        build.compare(CompareOp::IEq, word, state)
    }

    /// Origin, smallest T, direction and largest T of a ray, from an argument on.
    fn set_ray(&mut self, object: &mut HitObject, call: &Call<'_>, first: usize) -> Result<()> {
        let places = (0..3).map(|component| (Word::WorldOrigin, component));
        let places = places.chain([(Word::TMin, 0)]);
        let places = places.chain((0..3).map(|component| (Word::WorldDirection, component)));
        for (argument, (word, element)) in (first..).zip(places.chain([(Word::TCurrent, 0)])) {
            let value = call.f32(self, argument)?;
            let value = self.i32_bits(value);
            object.set(word, element, value);
        }
        Ok(())
    }

    /// The hit that a ray query has committed, or none. `custom` is the kind and the attributes of a hit that is no
    /// triangle's.
    fn committed_hit(&mut self, call: &Call<'_>, custom: Option<(Value, Vec<Value>)>) -> Result<Lowered> {
        let query = self.ray_query(call)?;
        let load = |this: &mut Self, field: RayQueryField, column: u8| this.load_ray_query(query, true, field, column);
        let mut hit = self.nop();
        let kind = load(self, RayQueryField::Kind, 0)?;
        let (zero, one) = (self.function.i32(0), self.function.i32(1));
        let (is_hit, is_triangle) = {
            let mut build = self.build();
            (build.compare(CompareOp::INe, kind, zero), build.compare(CompareOp::IEq, kind, one))
        };
        let state = self.function.i32(HIT);
        hit.set(Word::State, 0, state);
        let flags = self.ray_flags(query)?;
        hit.set(Word::RayFlags, 0, flags);
        for (word, element, index) in (0..3)
            .map(|component| (Word::WorldOrigin, component, component))
            .chain((0..3).map(|component| (Word::WorldDirection, component, 3 + component)))
            .chain([(Word::TMin, 0, 6)])
        {
            let value = self.ray_float(query, index)?;
            let value = self.i32_bits(value);
            hit.set(word, element, value);
        }
        for (word, field) in [
            (Word::TCurrent, RayQueryField::T),
            (Word::InstanceIndex, RayQueryField::InstanceIndex),
            (Word::InstanceId, RayQueryField::InstanceId),
            (Word::GeometryIndex, RayQueryField::GeometryIndex),
            (Word::PrimitiveIndex, RayQueryField::PrimitiveIndex),
        ] {
            let value = load(self, field, 0)?;
            let value = self.i32_bits(value);
            hit.set(word, 0, value);
        }
        for (word, field) in
            [(Word::ObjectToWorld, RayQueryField::ObjectToWorld), (Word::WorldToObject, RayQueryField::WorldToObject)]
        {
            for column in 0..4 {
                let vector = load(self, field, column)?;
                for row in 0..3 {
                    let value = self.build().extract(vector, row);
                    let value = self.i32_bits(value);
                    hit.set(word, u32::from(row) * 4 + u32::from(column), value);
                }
            }
        }
        let front = load(self, RayQueryField::FrontFace, 0)?;
        let (front_face, back_face) = (self.function.i32(FRONT_FACE), self.function.i32(BACK_FACE));
        let triangle_kind = self.build().select(front, front_face, back_face);
        let (custom_kind, custom_attributes) = custom.unwrap_or((zero, Vec::new()));
        let kind = self.build().select(is_triangle, triangle_kind, custom_kind);
        hit.set(Word::HitKind, 0, kind);
        let barycentrics = load(self, RayQueryField::Barycentrics, 0)?;
        for index in 0..ATTRIBUTES {
            let custom = custom_attributes.get(index as usize).copied().unwrap_or(zero);
            let triangle = match index {
                0 | 1 => {
                    let value = self.build().extract(barycentrics, index as u8);
                    self.i32_bits(value)
                }
                _ => zero,
            };
            let value = self.build().select(is_triangle, triangle, custom);
            hit.set(Word::Attributes, index, value);
        }
        let mut object = self.nop();
        for (word, hit) in object.0.iter_mut().zip(hit.0) {
            if *word != hit {
                *word = self.build().select(is_hit, hit, *word);
            }
        }
        Ok(object.lowered())
    }
}

/// As [`trace_ray`](super::ray::trace_ray): the object.
pub fn trace_ray(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    f.trace(call, "hit_object_trace_ray")?;
    let variable = f.parent.interface_variable(HIT_OBJECT, HIT_OBJECT_WORDS);
    let mut words = SmallVec::new();
    for index in 0..HIT_OBJECT_WORDS {
        let mut build = f.build();
        let index = build.i32(index);
        words.push(build.push(Op::LoadVariable { variable, index, component: None }, Type::I32));
    }
    Ok(Some(Lowered::Scalars(words)))
}

/// Query.
pub fn from_ray_query(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    f.committed_hit(call, None).map(Some)
}

/// Query, kind and attributes of a hit that is no triangle's.
pub fn from_ray_query_with_attributes(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let kind = call.i32(f, 1)?;
    let attributes = f.pointer_argument(call, 2)?;
    let words = f.words(attributes, ATTRIBUTES)?;
    f.committed_hit(call, Some((kind, words))).map(Some)
}

/// Flags, index of the miss shader, origin, smallest T, direction, largest T.
pub fn make_miss(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let mut object = f.nop();
    let (flags, index) = (call.i32(f, 0)?, call.i32(f, 1)?);
    f.set_ray(&mut object, call, 2)?;
    let mut build = f.build();
    let (state, one, mask) = (build.i32(MISS), build.i32(1), build.i32(0xffff));
    let index = build.binary(BinaryOp::And, index, mask);
    object.set(Word::State, 0, state);
    object.set(Word::HasRecord, 0, one);
    object.set(Word::ShaderTableIndex, 0, index);
    object.set(Word::RayFlags, 0, flags);
    Ok(Some(object.lowered()))
}

/// Nothing.
pub fn make_nop(f: &mut Lowering<'_, '_>, _call: &Call<'_>) -> Result<Option<Lowered>> {
    Ok(Some(f.nop().lowered()))
}

/// Object, payload.
pub fn invoke(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let object = f.hit_object(call)?;
    let payload = f.pointer_argument(call, 1)?;
    f.give_hit_object(&object);
    let shared = f.share(payload, "hit_object_invoke_payload")?;
    f.call_back("hit_object_invoke");
    f.copy(shared, payload)?;
    Ok(None)
}

/// Object and hint.
pub fn reorder(_f: &mut Lowering<'_, '_>, _call: &Call<'_>) -> Result<Option<Lowered>> {
    Ok(None)
}

/// Object: whether it is what the operation asks for.
pub fn is_state(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let object = f.hit_object(call)?;
    // IsMiss, IsHit, IsNop.
    let state = match call.number {
        269 => MISS,
        270 => HIT,
        _ => NOP,
    };
    Ok(Some(Lowered::scalar(f.is_state(&object, state))))
}

/// Object, and the row and column of a matrix or the component of a vector.
pub fn word(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let object = f.hit_object(call)?;
    let scalar = call.result_scalar(f)?;
    if scalar.bits() != 32 {
        return Err(Error::malformed(format!("word of a hit object as another type: {scalar}")));
    }
    let (word, rows, columns) = match call.number {
        272 => (Word::RayFlags, 1, 1),
        273 => (Word::TMin, 1, 1),
        274 => (Word::TCurrent, 1, 1),
        275 => (Word::WorldOrigin, 1, 3),
        276 => (Word::WorldDirection, 1, 3),
        279 => (Word::ObjectToWorld, 3, 4),
        280 => (Word::WorldToObject, 3, 4),
        281 => (Word::GeometryIndex, 1, 1),
        282 => (Word::InstanceIndex, 1, 1),
        283 => (Word::InstanceId, 1, 1),
        284 => (Word::PrimitiveIndex, 1, 1),
        285 => (Word::HitKind, 1, 1),
        286 => (Word::ShaderTableIndex, 1, 1),
        _ => return Err(Error::internal("no word of a hit object")),
    };
    let mut element = 0;
    for (argument, size) in (1..).zip([rows, columns].into_iter().filter(|&size| size > 1)) {
        let index = call.constant(f, argument)?;
        if index >= size {
            return Err(Error::malformed(format!("no such component: {index}")));
        }
        element = element * size + index;
    }
    let value = object.get(word, element);
    Ok(Some(Lowered::scalar(f.build().bitcast(value, scalar))))
}

/// Object, component: the ray as the instance sees it.
pub fn object_ray(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let object = f.hit_object(call)?;
    let row = call.constant(f, 1)?;
    if row > 2 {
        return Err(Error::malformed(format!("no such component: {row}")));
    }
    let is_origin = call.number == 277;
    let vector = if is_origin { Word::WorldOrigin } else { Word::WorldDirection };
    let float = |f: &mut Lowering<'_, '_>, word: Value| f.build().bitcast(word, Scalar::F32);
    let mut sum = None;
    for column in 0..3 {
        let factor = float(f, object.get(Word::WorldToObject, row * 4 + column));
        let coordinate = float(f, object.get(vector, column));
        let mut build = f.build();
        let term = build.binary(BinaryOp::FMul, factor, coordinate);
        sum = Some(match sum {
            Some(sum) => build.binary(BinaryOp::FAdd, sum, term),
            None => term,
        });
    }
    let mut sum = sum.ok_or_else(|| Error::internal("matrix without columns"))?;
    if is_origin {
        let shift = float(f, object.get(Word::WorldToObject, row * 4 + 3));
        sum = f.build().binary(BinaryOp::FAdd, sum, shift);
    }
    Ok(Some(Lowered::scalar(sum)))
}

/// Object, index: the object with the record of a shader table, unless it is neither a hit nor a miss.
pub fn set_shader_table_index(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let mut object = f.hit_object(call)?;
    let index = call.i32(f, 1)?;
    let (is_hit, is_nop) = (f.is_state(&object, HIT), f.is_state(&object, NOP));
    let mut build = f.build();
    let (of_hits, of_misses) = (build.i32(0x0fff_ffff), build.i32(0xffff));
    let (zero, one) = (build.i32(0), build.i32(1));
    let mask = build.select(is_hit, of_hits, of_misses);
    let index = build.binary(BinaryOp::And, index, mask);
    let index = build.select(is_nop, zero, index);
    let has_record = build.select(is_nop, zero, one);
    object.set(Word::ShaderTableIndex, 0, index);
    object.set(Word::HasRecord, 0, has_record);
    Ok(Some(object.lowered()))
}

/// Object, byte: what the host's shader table holds there, by the function `load_local_root_table_constant`. It finds the
/// object in `hit_object` and the byte in `load_local_root_table_constant_operands`, and leaves the word in
/// `local_root_table_constant`.
pub fn load_local_root_table_constant(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let object = f.hit_object(call)?;
    let byte = call.i32(f, 1)?;
    f.give_hit_object(&object);
    f.store_word("load_local_root_table_constant_operands", 1, 0, byte);
    f.call_back("load_local_root_table_constant");
    let variable = f.parent.interface_variable("local_root_table_constant", 1);
    let mut build = f.build();
    let zero = build.i32(0);
    let word = build.push(Op::LoadVariable { variable, index: zero, component: None }, Type::I32);
    let has_record = build.compare(CompareOp::INe, object.get(Word::HasRecord, 0), zero);
    Ok(Some(Lowered::scalar(build.select(has_record, word, zero))))
}

/// Object, address that the attributes go to.
pub fn attributes(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let object = f.hit_object(call)?;
    let target = f.pointer_argument(call, 1)?;
    let variable = f.parent.named_variable("hit_object_attributes", VariableSpace::Thread, ATTRIBUTES);
    for index in 0..ATTRIBUTES {
        let value = object.get(Word::Attributes, index);
        let mut build = f.build();
        let index = build.i32(index);
        build.effect(Op::StoreVariable { variable, index, component: None, value });
    }
    let words = f.words_at(variable, target.pointee);
    f.copy(words, target)?;
    Ok(None)
}
