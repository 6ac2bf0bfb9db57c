//! Variables and types of `RDEF` to buffer layouts.

use std::borrow::Cow;

use crate::{
    Error, Result,
    container::{BufferRecord, Part, ResourceDefinitions, TypeRecord},
    reflection::{BufferLayout, Field, FieldScalar, FieldShape, FieldType},
};

/// `D3D_SVF_USED`.
const VARIABLE_USED: u32 = 0x2;
/// `D3D_CT_RESOURCE_BIND_INFO`: the buffer describes the element of a structured buffer.
const STRUCTURED_ELEMENT: u32 = 3;
/// Structures within structures, at most: the compiler stops far earlier, and types of a damaged part may name themselves.
const MAX_DEPTH: usize = 32;
/// Bytes that one field is charged for besides its name and value.
const FIELD_COST: usize = 64;

/// Reads layouts, one after the other.
///
/// Variables may share types, types may share members, and all may share names. A small part can therefore describe an
/// exponentially large tree, so what is read is charged to a budget that is a multiple of the part's length.
pub(super) struct Layouts<'d, 'a> {
    definitions: &'d ResourceDefinitions<'a>,
    budget: usize,
}

/// How values lie in a buffer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Packing {
    /// Constant buffers: rows of 16 bytes; elements of arrays, rows of matrices and structures begin one.
    Rows,
    /// Structured buffers: everything follows immediately, at multiples of its scalars' size.
    Tight,
}

impl<'d, 'a> Layouts<'d, 'a> {
    pub fn new(definitions: &'d ResourceDefinitions<'a>) -> Self {
        let budget = definitions.part().data.len().saturating_mul(64).saturating_add(1 << 20);
        Self { definitions, budget }
    }

    pub fn part(&self) -> Part<'a> {
        self.definitions.part()
    }

    /// The layout of the buffer of a binding, with what [`unwrap_structure`] does.
    pub fn buffer(&mut self, buffer: &BufferRecord<'a>, binding: &str) -> Result<BufferLayout> {
        let packing = if buffer.ty == STRUCTURED_ELEMENT { Packing::Tight } else { Packing::Rows };
        let mut fields = Vec::new();
        for variable in self.definitions.variables(buffer)? {
            let variable = variable?;
            self.charge(variable.offset, variable.default_value.map_or(0, <[u8]>::len))?;
            let ty = self.definitions.type_at(variable.ty)?;
            let Some(shape) = self.shape(&ty, packing, 0)? else { continue };
            fields.push(Field {
                name: self.name(variable.offset, variable.name)?,
                offset: variable.start,
                size: variable.size,
                ty: self.array(&ty, shape, packing)?,
                default_value: variable.default_value.map(<[u8]>::to_vec),
                used: Some(variable.flags & VARIABLE_USED != 0),
            });
        }
        unwrap_structure(&mut fields, if packing == Packing::Tight { "$Element" } else { binding });
        fields.sort_by_key(|field| field.offset);
        Ok(BufferLayout { size: buffer.size, fields })
    }

    /// The shape of one element of a type. `None` for types that take no room in a buffer: objects in structures, whose
    /// registers are bindings of their own.
    fn shape(&mut self, ty: &TypeRecord<'a>, packing: Packing, depth: usize) -> Result<Option<FieldShape>> {
        let invalid = |what: String| self.definitions.part().malformed(ty.offset, what);
        if depth > MAX_DEPTH {
            return Err(invalid("structures are nested too deeply".into()));
        }
        let size = |number: u16| u8::try_from(number).ok().filter(|size| (1..=4).contains(size));
        let (Some(rows), Some(columns)) = (size(ty.rows.max(1)), size(ty.columns.max(1))) else {
            // A structure's record counts the numbers of all its members as columns.
            if ty.class == 5 {
                return self.structure(ty, packing, depth).map(Some);
            }
            return Err(invalid(format!("a vector or matrix of impossible size: {} x {}", ty.rows, ty.columns)));
        };
        Ok(Some(match ty.class {
            0 => FieldShape::Scalar(scalar(ty.base)),
            1 => FieldShape::Vector(scalar(ty.base), columns),
            2 | 3 => FieldShape::Matrix { scalar: scalar(ty.base), rows, columns, row_major: ty.class == 2 },
            4 => return Ok(None),
            5 => self.structure(ty, packing, depth)?,
            6 | 7 => FieldShape::Interface,
            class => return Err(invalid(format!("unknown class of a type: {class}"))),
        }))
    }

    fn structure(&mut self, ty: &TypeRecord<'a>, packing: Packing, depth: usize) -> Result<FieldShape> {
        let mut members = Vec::new();
        for member in self.definitions.members(ty)? {
            let member = member?;
            self.charge(ty.offset, 0)?;
            let member_ty = self.definitions.type_at(member.ty)?;
            let Some(shape) = self.shape(&member_ty, packing, depth + 1)? else { continue };
            let size = extent(&shape, member_ty.elements, packing);
            members.push(Field {
                name: self.name(ty.offset, member.name)?,
                offset: member.start,
                size,
                ty: self.array(&member_ty, shape, packing)?,
                default_value: None,
                used: None,
            });
        }
        Ok(FieldShape::Struct(members))
    }

    /// An element's shape together with what makes it an array.
    fn array(&mut self, ty: &TypeRecord<'a>, shape: FieldShape, packing: Packing) -> Result<FieldType> {
        let name = ty.name.clone().map(|name| self.name(ty.offset, name)).transpose()?;
        let elements = (ty.elements > 0).then_some(u32::from(ty.elements));
        let stride = if elements.is_some() { stride(&shape, packing) } else { 0 };
        Ok(FieldType { shape, elements, stride, name })
    }

    fn name(&mut self, offset: usize, name: Cow<'a, str>) -> Result<String> {
        self.charge(offset, name.len())?;
        Ok(name.into_owned())
    }

    /// Takes from the budget.
    pub fn charge(&mut self, offset: usize, bytes: usize) -> Result<()> {
        let rest = self.budget.checked_sub(FIELD_COST + bytes);
        self.budget = rest.ok_or_else(|| -> Error {
            self.part().malformed(offset, "the names and types describe far more than their records can")
        })?;
        Ok(())
    }
}

/// Puts the members of a structure in place of a field that stands for the whole buffer, as a programmer sees it.
///
/// A structured buffer's element is one field named `$Element`. The contents of a `ConstantBuffer<T>` are one that has the
/// buffer's name (and is an array of one, where the buffers are an array).
pub(super) fn unwrap_structure(fields: &mut Vec<Field>, whole: &str) {
    if let [Field { offset: 0, name, ty, .. }] = &mut fields[..]
        && name == whole
        && let FieldType { shape: FieldShape::Struct(members), elements: None | Some(1), .. } = ty
    {
        *fields = std::mem::take(members);
    }
}

/// `D3D_SHADER_VARIABLE_TYPE`. Minimum-precision types take 32 bits in memory.
fn scalar(base: u16) -> FieldScalar {
    match base {
        1 => FieldScalar::Bool,
        // int, min12int, min16int
        2 | 55 | 56 => FieldScalar::I32,
        // float, min8float, min10float, min16float
        3 | 52..=54 => FieldScalar::F32,
        // uint, min16uint
        19 | 57 => FieldScalar::U32,
        39 => FieldScalar::F64,
        58 => FieldScalar::I16,
        59 => FieldScalar::U16,
        60 => FieldScalar::F16,
        61 => FieldScalar::I64,
        62 => FieldScalar::U64,
        _ => FieldScalar::Unknown,
    }
}

fn scalar_size(scalar: FieldScalar) -> u32 {
    match scalar {
        FieldScalar::I16 | FieldScalar::U16 | FieldScalar::F16 => 2,
        FieldScalar::I64 | FieldScalar::U64 | FieldScalar::F64 => 8,
        FieldScalar::Bool | FieldScalar::I32 | FieldScalar::U32 | FieldScalar::F32 | FieldScalar::Unknown => 4,
    }
}

/// Bytes of the largest scalar in a shape: what a tightly packed structure is aligned and padded to.
fn alignment(shape: &FieldShape) -> u32 {
    match shape {
        FieldShape::Scalar(scalar) | FieldShape::Vector(scalar, _) | FieldShape::Matrix { scalar, .. } => {
            scalar_size(*scalar)
        }
        FieldShape::Struct(members) => members.iter().map(|member| alignment(&member.ty.shape)).max().unwrap_or(4),
        FieldShape::Interface => 4,
    }
}

/// Bytes of one element, without padding after it.
fn size(shape: &FieldShape, packing: Packing) -> u32 {
    match shape {
        FieldShape::Scalar(scalar) => scalar_size(*scalar),
        FieldShape::Vector(scalar, count) => scalar_size(*scalar) * u32::from(*count),
        FieldShape::Matrix { scalar, rows, columns, row_major } => {
            let (lines, line) = if *row_major { (rows, columns) } else { (columns, rows) };
            let line = scalar_size(*scalar) * u32::from(*line);
            let between = if packing == Packing::Rows { line.next_multiple_of(16) } else { line };
            between * (u32::from(*lines) - 1) + line
        }
        FieldShape::Struct(members) => {
            let end = members.iter().map(|member| member.offset.saturating_add(member.size)).max().unwrap_or(0);
            match packing {
                Packing::Rows => end,
                Packing::Tight => end.checked_next_multiple_of(alignment(shape)).unwrap_or(u32::MAX),
            }
        }
        // Slots of class linkage: a table offset in a constant buffer of their own.
        FieldShape::Interface => 4,
    }
}

/// Bytes from one element of an array to the next.
fn stride(shape: &FieldShape, packing: Packing) -> u32 {
    let size = size(shape, packing);
    match packing {
        Packing::Rows => size.checked_next_multiple_of(16).unwrap_or(u32::MAX),
        Packing::Tight => size,
    }
}

/// Bytes of a member: of all its elements, without padding after the last.
fn extent(shape: &FieldShape, elements: u16, packing: Packing) -> u32 {
    let before_last = stride(shape, packing).saturating_mul(u32::from(elements.saturating_sub(1)));
    before_last.saturating_add(size(shape, packing))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::FourCc;

    /// A part with one buffer of one variable, whose structure has `members` at offset 100, all of `member_type`.
    fn part(members: u16, member_type: u32) -> Vec<u8> {
        let mut part = vec![0; 4096];
        let mut put = |offset: usize, words: &[u32]| {
            for (index, word) in words.iter().enumerate() {
                part[offset + 4 * index..][..4].copy_from_slice(&word.to_le_bytes());
            }
        };
        put(0, &[1, 28]);
        // Name (an empty one at the end), number and offset of variables, size, flags, type.
        put(28, &[4000, 1, 52, 16, 0, 0]);
        // Name, offset, size, flags, type, no default.
        put(52, &[4000, 0, 16, 2, 76, 0]);
        // A structure, and a float.
        put(76, &[5, 1 | 1 << 16, u32::from(members) << 16, 120]);
        put(92, &[3 << 16, 1 | 1 << 16, 0, 0]);
        for member in 0..usize::from(members) {
            put(120 + 12 * member, &[4000, member_type, 4 * member as u32]);
        }
        part
    }

    fn read(data: &[u8]) -> Result<BufferLayout> {
        let definitions = ResourceDefinitions::parse(Part { name: FourCc::RDEF, offset: 0, data })?;
        let buffer = definitions.buffers()?.next().unwrap()?;
        Layouts::new(&definitions).buffer(&buffer, &buffer.name)
    }

    #[test]
    fn structures() {
        let layout = read(&part(3, 92)).unwrap();
        // The buffer's name is the variable's, so the members stand for it.
        let fields = layout.fields.iter().map(|field| (field.offset, field.size, field.ty.shape.clone()));
        let float = FieldShape::Scalar(FieldScalar::F32);
        assert_eq!(fields.collect::<Vec<_>>(), [(0, 4, float.clone()), (4, 4, float.clone()), (8, 4, float)]);
    }

    #[test]
    fn structures_within_themselves_end() {
        assert!(read(&part(1, 76)).unwrap_err().what.contains("nested"));
        let start = std::time::Instant::now();
        assert!(read(&part(40, 76)).is_err());
        assert!(start.elapsed().as_secs() < 2);
    }

    #[test]
    fn sizes_of_arrays_and_matrices() {
        let matrix = FieldShape::Matrix { scalar: FieldScalar::F32, rows: 3, columns: 2, row_major: false };
        assert_eq!((size(&matrix, Packing::Rows), stride(&matrix, Packing::Rows)), (28, 32));
        assert_eq!((size(&matrix, Packing::Tight), stride(&matrix, Packing::Tight)), (24, 24));
        assert_eq!((extent(&matrix, 3, Packing::Rows), extent(&matrix, 0, Packing::Rows)), (92, 28));
    }
}
