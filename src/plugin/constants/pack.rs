//! Values to the bytes of a constant buffer, by the layout that reflection knows.
//!
//! Rules of HLSL's packing that matter here: a matrix holds one register of 16 bytes (two for three or four doubles) for
//! each of its rows if it is `row_major`, for each of its columns otherwise; elements of arrays begin at multiples of the
//! reflected stride; a `bool` is a 32-bit integer.

use std::ops::Range;

use bevy::math::Mat4;
use serde::{Deserialize, Serialize};

use super::{ConstantValue, EngineObject, EngineValue, Frequency, Number};
use crate::reflection::{BufferLayout, Field, FieldScalar, FieldShape, FieldType};

/// On which side of a matrix the shaders write a vector. It decides what the engine's matrices are to them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum VectorConvention {
    /// `mul(v, World)`: translations are in the last row, and products read from left to right. What Direct3D's own
    /// mathematics and most shaders written for it do.
    #[default]
    Row,
    /// `mul(World, v)`: translations are in the last column. What Unity's and Unreal's shaders do, and Bevy's.
    Column,
}

/// Contents of one constant buffer: bytes, and the places that the engine fills in as it draws.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConstantBlock {
    /// The constant part; 0 where nothing is known, and where the engine fills in.
    pub bytes: Vec<u8>,
    /// Places of engine values.
    pub patches: Vec<Patch>,
}

/// A place that the engine fills in.
#[derive(Clone, Debug, PartialEq)]
pub struct Patch {
    offset: usize,
    value: EngineValue,
    shape: PatchShape,
}

/// What lies at a patch.
#[derive(Clone, Debug, PartialEq)]
enum PatchShape {
    /// This many components.
    Vector(FieldScalar, u8),
    Matrix(MatrixShape, VectorConvention),
}

/// Shape and layout of a matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
struct MatrixShape {
    scalar: FieldScalar,
    rows: u8,
    columns: u8,
    row_major: bool,
}

/// Why a value does not fit its field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PackError {
    /// Another kind of value.
    #[error("it is {expected}, which cannot be {found}")]
    Shape {
        /// The field's type.
        expected: String,
        /// What the material gives.
        found: String,
    },
    /// Too many or too few numbers.
    #[error("it is {expected}, but {found} values are given")]
    Count {
        /// The field's type.
        expected: String,
        /// How many values the material gives.
        found: usize,
    },
    /// A number that the scalar type cannot hold.
    #[error("{number} is no {scalar}")]
    Number {
        /// The number.
        number: String,
        /// The scalar type.
        scalar: &'static str,
    },
    /// A member that the structure lacks.
    #[error("{ty} has no member `{member}`: it has {members}")]
    Member {
        /// The structure.
        ty: String,
        /// The name.
        member: String,
        /// What it has.
        members: String,
    },
    /// Reflection puts the field outside its buffer.
    #[error("its reflected place, bytes {start} to {end}, is outside its buffer of {size} bytes")]
    Outside {
        /// First byte.
        start: usize,
        /// Byte after the last.
        end: usize,
        /// Bytes of the buffer.
        size: usize,
    },
}

impl ConstantBlock {
    /// How often its contents change: as often as the most frequent of its patches.
    pub fn frequency(&self) -> Frequency {
        self.patches.iter().map(|patch| patch.value.frequency()).max().unwrap_or_default()
    }

    /// Appends the contents for one draw.
    pub fn write(&self, object: &EngineObject, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&self.bytes);
        for patch in &self.patches {
            patch.apply(object, &mut out[start..]);
        }
    }
}

impl Patch {
    /// The engine value.
    pub fn value(&self) -> EngineValue {
        self.value
    }

    fn apply(&self, object: &EngineObject, bytes: &mut [u8]) {
        match (self.value, &self.shape) {
            (EngineValue::Matrix(matrix), PatchShape::Matrix(shape, convention)) => {
                let matrix = in_convention(matrix.evaluate(object), *convention);
                for (row, column, at) in shape.elements() {
                    let number = Number::Float(matrix.col(column)[row].into());
                    put_in_range(shape.scalar, number, bytes, self.offset + at);
                }
            }
            (value, PatchShape::Vector(scalar, components)) => {
                let vector = value.vector(object).unwrap_or_default();
                for component in 0..usize::from(*components) {
                    let number = Number::Float(vector[component].into());
                    put_in_range(*scalar, number, bytes, self.offset + component * scalar_size(*scalar));
                }
            }
            // `Packer::set` pairs vectors with vectors and matrices with matrices.
            (_, PatchShape::Matrix(..)) => {}
        }
    }
}

/// The matrix that a shader of this convention multiplies by.
fn in_convention(for_column_vectors: Mat4, convention: VectorConvention) -> Mat4 {
    match convention {
        VectorConvention::Row => for_column_vectors.transpose(),
        VectorConvention::Column => for_column_vectors,
    }
}

impl MatrixShape {
    /// Row, column and byte offset of each element, row by row.
    fn elements(self) -> impl Iterator<Item = (usize, usize, usize)> {
        let size = scalar_size(self.scalar);
        let lanes = usize::from(if self.row_major { self.columns } else { self.rows });
        let line_stride = (lanes * size).next_multiple_of(16);
        let (rows, columns) = (usize::from(self.rows), usize::from(self.columns));
        (0..rows).flat_map(move |row| (0..columns).map(move |column| (row, column))).map(move |(row, column)| {
            let (line, lane) = if self.row_major { (row, column) } else { (column, row) };
            (row, column, line * line_stride + lane * size)
        })
    }
}

/// Fills one constant buffer.
#[derive(Debug)]
pub struct Packer {
    block: ConstantBlock,
    /// Bytes that something was put into.
    covered: Vec<bool>,
    convention: VectorConvention,
}

impl Packer {
    /// A buffer of `size` bytes, all 0.
    pub fn new(size: usize, convention: VectorConvention) -> Self {
        let block = ConstantBlock { bytes: vec![0; size], patches: Vec::new() };
        Self { block, covered: vec![false; size], convention }
    }

    /// The convention of the shaders.
    pub fn convention(&self) -> VectorConvention {
        self.convention
    }

    /// Puts the initial values that the HLSL gives into their fields. They do not count as covered.
    pub fn set_defaults(&mut self, layout: &BufferLayout) {
        for field in &layout.fields {
            let start = field.offset as usize;
            if let Some(value) = &field.default_value
                && let Some(place) = self.block.bytes.get_mut(start..start + value.len())
            {
                place.copy_from_slice(value);
            }
        }
    }

    /// Puts a value into a field of type `ty` at byte `offset`.
    ///
    /// # Errors
    /// Says what the field is and why the value does not fit.
    pub fn set(&mut self, offset: usize, ty: &FieldType, value: &ConstantValue) -> Result<(), PackError> {
        self.set_as(offset, ty, value, self.convention)
    }

    /// [`Packer::set`] for shaders that write this matrix on another side than the rest of the material.
    ///
    /// # Errors
    /// As for [`Packer::set`].
    pub fn set_as(
        &mut self,
        offset: usize,
        ty: &FieldType,
        value: &ConstantValue,
        convention: VectorConvention,
    ) -> Result<(), PackError> {
        let range = self.check(offset, type_size(ty))?;
        let before = self.block.clone();
        self.block.bytes[range.clone()].fill(0);
        self.block.patches.retain(|patch| !range.contains(&patch.offset));
        let result = self.put(offset, ty, value, convention);
        match result {
            Ok(()) => self.covered[range].fill(true),
            // What does not fit changes nothing.
            Err(_) => self.block = before,
        }
        result
    }

    /// Something was put into the bytes at `range`.
    pub fn is_covered(&self, range: Range<usize>) -> bool {
        self.covered.get(range).is_some_and(|bytes| bytes.contains(&true))
    }

    /// The filled buffer.
    pub fn finish(self) -> ConstantBlock {
        self.block
    }

    /// The bytes of a value, if the buffer has them.
    fn check(&self, start: usize, size: usize) -> Result<Range<usize>, PackError> {
        let end = start.saturating_add(size);
        let size = self.block.bytes.len();
        if end <= size { Ok(start..end) } else { Err(PackError::Outside { start, end, size }) }
    }

    fn put(
        &mut self,
        offset: usize,
        ty: &FieldType,
        value: &ConstantValue,
        convention: VectorConvention,
    ) -> Result<(), PackError> {
        let wrong_shape = || PackError::Shape { expected: describe(ty), found: describe_value(value) };
        let wrong_count = |found| PackError::Count { expected: describe(ty), found };
        if let Some(elements) = ty.elements {
            let ConstantValue::List(values) = value else { return Err(wrong_shape()) };
            if values.len() > elements as usize {
                return Err(wrong_count(values.len()));
            }
            let element = FieldType { elements: None, stride: 0, ..ty.clone() };
            for (index, value) in values.iter().enumerate() {
                self.put(offset + index * ty.stride as usize, &element, value, convention)?;
            }
            return Ok(());
        }
        match (&ty.shape, value) {
            (FieldShape::Scalar(scalar), ConstantValue::List(values)) => match values.as_slice() {
                [value] => self.put_number(offset, *scalar, value, ty),
                _ => Err(wrong_count(values.len())),
            },
            (FieldShape::Scalar(scalar), ConstantValue::Engine(engine)) => {
                self.patch(offset, *engine, PatchShape::Vector(*scalar, 1)).ok_or_else(wrong_shape)
            }
            (FieldShape::Scalar(scalar), value) => self.put_number(offset, *scalar, value, ty),
            (FieldShape::Vector(scalar, count), ConstantValue::List(values)) => {
                if values.len() != usize::from(*count) {
                    return Err(wrong_count(values.len()));
                }
                for (index, value) in values.iter().enumerate() {
                    self.put_number(offset + index * scalar_size(*scalar), *scalar, value, ty)?;
                }
                Ok(())
            }
            (FieldShape::Vector(scalar, count), ConstantValue::Engine(engine)) => {
                self.patch(offset, *engine, PatchShape::Vector(*scalar, *count)).ok_or_else(wrong_shape)
            }
            (&FieldShape::Matrix { scalar, rows, columns, row_major }, value) => {
                let shape = MatrixShape { scalar, rows, columns, row_major };
                match value {
                    ConstantValue::List(values) => self.put_matrix(offset, shape, values, ty),
                    ConstantValue::Engine(engine) => {
                        self.patch(offset, *engine, PatchShape::Matrix(shape, convention)).ok_or_else(wrong_shape)
                    }
                    _ => Err(wrong_shape()),
                }
            }
            (FieldShape::Struct(fields), ConstantValue::Struct(members)) => {
                for (name, value) in members {
                    let field = fields.iter().find(|field| field.name == *name).ok_or_else(|| PackError::Member {
                        ty: describe(ty),
                        member: name.clone(),
                        members: names_of(fields),
                    })?;
                    self.put(offset + field.offset as usize, &field.ty, value, convention)?;
                }
                Ok(())
            }
            _ => Err(wrong_shape()),
        }
    }

    /// A matrix from a list of its rows, or of all its numbers row by row.
    fn put_matrix(
        &mut self,
        offset: usize,
        shape: MatrixShape,
        values: &[ConstantValue],
        ty: &FieldType,
    ) -> Result<(), PackError> {
        let (rows, columns) = (usize::from(shape.rows), usize::from(shape.columns));
        let mut numbers = Vec::with_capacity(rows * columns);
        for value in values {
            match value {
                ConstantValue::List(row) if row.len() == columns => numbers.extend(row),
                ConstantValue::List(row) => return Err(PackError::Count { expected: describe(ty), found: row.len() }),
                value => numbers.push(value),
            }
        }
        if numbers.len() != rows * columns {
            return Err(PackError::Count { expected: describe(ty), found: numbers.len() });
        }
        for (row, column, at) in shape.elements() {
            self.put_number(offset + at, shape.scalar, numbers[row * columns + column], ty)?;
        }
        Ok(())
    }

    fn put_number(
        &mut self,
        offset: usize,
        scalar: FieldScalar,
        value: &ConstantValue,
        ty: &FieldType,
    ) -> Result<(), PackError> {
        let number = match value {
            ConstantValue::Number(number) => *number,
            ConstantValue::Bool(value) => Number::Integer((*value).into()),
            _ => return Err(PackError::Shape { expected: describe(ty), found: describe_value(value) }),
        };
        let size = self.block.bytes.len();
        let end = offset + scalar_size(scalar);
        let place = self.block.bytes.get_mut(offset..end).ok_or(PackError::Outside { start: offset, end, size })?;
        put(scalar, number, place)
    }

    /// Notes an engine value, if it fits the shape.
    fn patch(&mut self, offset: usize, value: EngineValue, shape: PatchShape) -> Option<()> {
        let fits = match (value, &shape) {
            (EngineValue::Matrix(_), PatchShape::Matrix(..)) => true,
            (EngineValue::Matrix(_), _) | (_, PatchShape::Matrix(..)) => false,
            (_, PatchShape::Vector(..)) => true,
        };
        fits.then(|| self.block.patches.push(Patch { offset, value, shape }))
    }
}

/// Bytes of a scalar.
fn scalar_size(scalar: FieldScalar) -> usize {
    match scalar {
        FieldScalar::I16 | FieldScalar::U16 | FieldScalar::F16 => 2,
        FieldScalar::Bool | FieldScalar::I32 | FieldScalar::U32 | FieldScalar::F32 | FieldScalar::Unknown => 4,
        FieldScalar::I64 | FieldScalar::U64 | FieldScalar::F64 => 8,
    }
}

/// Bytes from the first to the last of a value.
pub(crate) fn type_size(ty: &FieldType) -> usize {
    let element = match &ty.shape {
        FieldShape::Scalar(scalar) => scalar_size(*scalar),
        FieldShape::Vector(scalar, count) => scalar_size(*scalar) * usize::from(*count),
        &FieldShape::Matrix { scalar, rows, columns, row_major } => {
            let shape = MatrixShape { scalar, rows, columns, row_major };
            shape.elements().last().map_or(0, |(.., at)| at + scalar_size(scalar))
        }
        FieldShape::Struct(fields) => {
            fields.iter().map(|field| field.offset as usize + type_size(&field.ty)).max().unwrap_or(0)
        }
        FieldShape::Interface => 0,
    };
    match ty.elements {
        None => element,
        Some(0) => 0,
        Some(elements) => (elements as usize - 1).saturating_mul(ty.stride as usize).saturating_add(element),
    }
}

/// Writes a number as a scalar of exactly `place`'s size.
fn put(scalar: FieldScalar, number: Number, place: &mut [u8]) -> Result<(), PackError> {
    let float = match number {
        Number::Integer(integer) => integer as f64,
        Number::Float(float) => float,
    };
    let error = || PackError::Number {
        number: match number {
            Number::Integer(integer) => integer.to_string(),
            Number::Float(float) => float.to_string(),
        },
        scalar: scalar_name(scalar),
    };
    // Signed and unsigned fields take each other's range: people write masks as they like.
    let integer = |bits: u32| {
        let integer = match number {
            Number::Integer(integer) => integer,
            Number::Float(float) if float.fract() == 0.0 => float as i128,
            Number::Float(_) => return Err(error()),
        };
        let range = -(1i128 << (bits - 1))..1i128 << bits;
        if range.contains(&integer) { Ok(integer) } else { Err(error()) }
    };
    match scalar {
        FieldScalar::F32 | FieldScalar::Unknown => place.copy_from_slice(&(float as f32).to_le_bytes()),
        FieldScalar::F64 => place.copy_from_slice(&float.to_le_bytes()),
        FieldScalar::F16 => place.copy_from_slice(&half::f16::from_f64(float).to_le_bytes()),
        FieldScalar::Bool => place.copy_from_slice(&u32::from(float != 0.0).to_le_bytes()),
        FieldScalar::I16 | FieldScalar::U16 => place.copy_from_slice(&(integer(16)? as u16).to_le_bytes()),
        FieldScalar::I32 | FieldScalar::U32 => place.copy_from_slice(&(integer(32)? as u32).to_le_bytes()),
        FieldScalar::I64 | FieldScalar::U64 => place.copy_from_slice(&(integer(64)? as u64).to_le_bytes()),
    }
    Ok(())
}

/// Writes an engine's number; into an integer field, what it truncates to.
fn put_in_range(scalar: FieldScalar, number: Number, bytes: &mut [u8], offset: usize) {
    let number = match (scalar, number) {
        (FieldScalar::I16 | FieldScalar::U16 | FieldScalar::I32 | FieldScalar::U32, Number::Float(float)) => {
            Number::Integer((float as i32).into())
        }
        _ => number,
    };
    if let Some(place) = bytes.get_mut(offset..offset + scalar_size(scalar)) {
        // A float always fits; an integer outside 16 bits leaves 0.
        let _ = put(scalar, number, place);
    }
}

/// HLSL's name of a scalar.
fn scalar_name(scalar: FieldScalar) -> &'static str {
    match scalar {
        FieldScalar::Bool => "bool",
        FieldScalar::I16 => "int16_t",
        FieldScalar::U16 => "uint16_t",
        FieldScalar::I32 => "int",
        FieldScalar::U32 => "uint",
        FieldScalar::I64 => "int64_t",
        FieldScalar::U64 => "uint64_t",
        FieldScalar::F16 => "float16_t",
        FieldScalar::F32 | FieldScalar::Unknown => "float",
        FieldScalar::F64 => "double",
    }
}

/// A type as the HLSL would have it.
fn describe(ty: &FieldType) -> String {
    let element = match &ty.shape {
        FieldShape::Scalar(scalar) => scalar_name(*scalar).to_owned(),
        FieldShape::Vector(scalar, count) => format!("{}{count}", scalar_name(*scalar)),
        FieldShape::Matrix { scalar, rows, columns, .. } => format!("{}{rows}x{columns}", scalar_name(*scalar)),
        FieldShape::Struct(_) => ty.name.as_ref().map_or("a structure".to_owned(), |name| format!("struct {name}")),
        FieldShape::Interface => "an interface".to_owned(),
    };
    match ty.elements {
        Some(elements) => format!("{element}[{elements}]"),
        None => element,
    }
}

/// A value as an error message names it.
fn describe_value(value: &ConstantValue) -> String {
    match value {
        ConstantValue::Number(_) => "a number".to_owned(),
        ConstantValue::Bool(_) => "true or false".to_owned(),
        ConstantValue::List(values) => format!("a list of {}", values.len()),
        ConstantValue::Struct(_) => "a map of members".to_owned(),
        ConstantValue::Engine(value @ EngineValue::Matrix(_)) => format!("the engine's matrix {value}"),
        ConstantValue::Engine(value) => format!("the engine's vector {value}"),
    }
}

/// Names of fields, for messages.
pub(crate) fn names_of(fields: &[Field]) -> String {
    let names: Vec<_> = fields.iter().map(|field| field.name.as_str()).collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use bevy::math::{Mat4, Vec2, Vec3, Vec4};

    use super::*;
    use crate::plugin::constants::{EngineFrame, EngineView};

    fn scalar_type(shape: FieldShape) -> FieldType {
        FieldType { shape, elements: None, stride: 0, name: None }
    }

    fn vector(count: u8) -> FieldType {
        scalar_type(FieldShape::Vector(FieldScalar::F32, count))
    }

    fn matrix(rows: u8, columns: u8, row_major: bool) -> FieldType {
        scalar_type(FieldShape::Matrix { scalar: FieldScalar::F32, rows, columns, row_major })
    }

    fn value(text: &str) -> ConstantValue {
        ron::from_str(text).unwrap()
    }

    fn floats(bytes: &[u8]) -> Vec<f32> {
        bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    }

    fn pack(size: usize, offset: usize, ty: &FieldType, text: &str) -> Result<Vec<f32>, PackError> {
        let mut packer = Packer::new(size, VectorConvention::Row);
        packer.set(offset, ty, &value(text))?;
        Ok(floats(&packer.finish().bytes))
    }

    #[test]
    fn vectors_go_to_their_offsets() {
        assert_eq!(pack(16, 4, &vector(3), "[1, 2.5, 3]").unwrap(), [0.0, 1.0, 2.5, 3.0]);
        let array = FieldType { elements: Some(3), stride: 16, ..scalar_type(FieldShape::Scalar(FieldScalar::F32)) };
        assert_eq!(pack(48, 0, &array, "[1, 2]").unwrap(), [1., 0., 0., 0., 2., 0., 0., 0., 0., 0., 0., 0.]);
    }

    #[test]
    fn a_matrix_of_rows_lies_by_its_majorness() {
        let rows = "[[1, 2, 3], [4, 5, 6]]";
        assert_eq!(pack(32, 0, &matrix(2, 3, true), rows).unwrap(), [1., 2., 3., 0., 4., 5., 6., 0.]);
        let by_column = [1., 4., 0., 0., 2., 5., 0., 0., 3., 6., 0., 0.];
        assert_eq!(pack(48, 0, &matrix(2, 3, false), rows).unwrap(), by_column);
        assert_eq!(pack(48, 0, &matrix(2, 3, false), "[1, 2, 3, 4, 5, 6]").unwrap(), by_column);
    }

    #[test]
    fn structures_take_members_by_name() {
        let field =
            |name: &str, offset, ty| Field { name: name.into(), offset, size: 0, ty, default_value: None, used: None };
        let light = FieldType {
            shape: FieldShape::Struct(vec![
                field("color", 0, vector(3)),
                field("range", 12, scalar_type(FieldShape::Scalar(FieldScalar::F32))),
            ]),
            elements: Some(2),
            stride: 16,
            name: Some("Light".into()),
        };
        let text = r#"[{"range": 7}, {"color": [1, 2, 3]}]"#;
        assert_eq!(pack(32, 0, &light, text).unwrap(), [0., 0., 0., 7., 1., 2., 3., 0.]);
        let error = pack(32, 0, &light, r#"[{"rnge": 7}]"#).unwrap_err().to_string();
        assert_eq!(error, "struct Light has no member `rnge`: it has color, range");
    }

    #[test]
    fn integers_keep_their_bits() {
        let mut packer = Packer::new(16, VectorConvention::Row);
        let uint = scalar_type(FieldShape::Scalar(FieldScalar::U32));
        packer.set(0, &uint, &value("0xfffffffe")).unwrap();
        packer.set(4, &scalar_type(FieldShape::Scalar(FieldScalar::I32)), &value("-1")).unwrap();
        packer.set(8, &scalar_type(FieldShape::Scalar(FieldScalar::Bool)), &value("true")).unwrap();
        packer.set(12, &uint, &value("3.0")).unwrap();
        let error = packer.set(12, &uint, &value("3.5")).unwrap_err();
        assert_eq!(error.to_string(), "3.5 is no uint");
        assert!(packer.set(12, &uint, &value("0x100000000")).is_err());
        let mut bytes = packer.finish().bytes;
        bytes.truncate(12);
        assert_eq!(bytes, [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0]);
    }

    #[test]
    fn misfits_are_named() {
        let message = |ty: &FieldType, text: &str| pack(64, 0, ty, text).unwrap_err().to_string();
        assert_eq!(message(&vector(4), "[1, 2, 3]"), "it is float4, but 3 values are given");
        assert_eq!(message(&vector(4), "1"), "it is float4, which cannot be a number");
        assert_eq!(message(&vector(4), "\"World\""), "it is float4, which cannot be the engine's matrix World");
        assert_eq!(
            message(&matrix(4, 4, false), "\"Time\""),
            "it is float4x4, which cannot be the engine's vector Time"
        );
        assert_eq!(message(&matrix(2, 2, false), "[[1, 2], [3]]"), "it is float2x2, but 1 values are given");
        let outside = pack(16, 8, &vector(4), "[1, 2, 3, 4]").unwrap_err().to_string();
        assert_eq!(outside, "its reflected place, bytes 8 to 24, is outside its buffer of 16 bytes");
    }

    /// Multiplies as the bytecode of `mul` does for each convention and majorness, from the bytes alone.
    #[test]
    fn engine_matrices_transform_in_every_convention() {
        let world = Mat4::from_translation(Vec3::new(1.0, 2.0, 3.0)) * Mat4::from_rotation_y(0.5);
        let view = EngineView {
            frame: EngineFrame::default(),
            view_from_world: Mat4::IDENTITY,
            clip_from_view: Mat4::IDENTITY,
            clip_from_world: Mat4::IDENTITY,
            world_from_view: Mat4::IDENTITY,
            viewport_size: Vec2::ONE,
        };
        let object = EngineObject { view: &view, world_from_local: world };
        let v = Vec4::new(0.5, -1.0, 2.0, 1.0);
        for convention in [VectorConvention::Row, VectorConvention::Column] {
            for row_major in [false, true] {
                let mut packer = Packer::new(64, convention);
                packer.set(0, &matrix(4, 4, row_major), &value("\"World\"")).unwrap();
                let block = packer.finish();
                assert_eq!(block.frequency(), Frequency::Object);
                let mut bytes = Vec::new();
                block.write(&object, &mut bytes);
                let registers = floats(&bytes);
                let element = |row: usize, column: usize| {
                    if row_major { registers[4 * row + column] } else { registers[4 * column + row] }
                };
                let product = Vec4::from_array(std::array::from_fn(|i| match convention {
                    VectorConvention::Row => (0..4).map(|k| v[k] * element(k, i)).sum(),
                    VectorConvention::Column => (0..4).map(|k| element(i, k) * v[k]).sum(),
                }));
                assert!(product.abs_diff_eq(world * v, 1e-6), "{convention:?}, row_major {row_major}: {product}");
            }
        }
    }

    #[test]
    fn a_later_value_replaces_an_engine_value() {
        let mut packer = Packer::new(64, VectorConvention::Row);
        packer.set(0, &matrix(4, 4, false), &value("\"World\"")).unwrap();
        packer.set(0, &vector(4), &value("[1, 2, 3, 4]")).unwrap();
        let block = packer.finish();
        assert!(block.patches.is_empty());
        assert_eq!(floats(&block.bytes)[..4], [1.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn short_vectors_and_scalars_take_the_first_components() {
        let view = EngineView {
            frame: EngineFrame { time: 2.0, ..Default::default() },
            view_from_world: Mat4::IDENTITY,
            clip_from_view: Mat4::IDENTITY,
            clip_from_world: Mat4::IDENTITY,
            world_from_view: Mat4::from_translation(Vec3::new(1.0, 2.0, 3.0)),
            viewport_size: Vec2::ONE,
        };
        let mut packer = Packer::new(16, VectorConvention::Row);
        packer.set(0, &vector(3), &value("\"CameraPosition\"")).unwrap();
        packer.set(12, &scalar_type(FieldShape::Scalar(FieldScalar::F32)), &value("\"Time\"")).unwrap();
        let mut bytes = Vec::new();
        packer.finish().write(&EngineObject { view: &view, world_from_local: Mat4::IDENTITY }, &mut bytes);
        assert_eq!(floats(&bytes), [1.0, 2.0, 3.0, 2.0]);
    }
}
