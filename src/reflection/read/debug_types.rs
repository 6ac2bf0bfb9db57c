//! Constants of fxc's PDB files to buffer layouts.

use crate::{
    container::{DebugType, DebugTypes, Pdb},
    reflection::{Binding, BufferLayout, Field, FieldScalar, FieldShape, FieldType, ResourceKind},
};

/// Structures within structures, at most.
const MAX_DEPTH: usize = 32;
/// Fields of a buffer, at most: structures may share members, so that a small file can describe an exponentially large tree.
const MAX_FIELDS: usize = 1 << 14;

/// The layout of a constant buffer, from the constants that a PDB file has for its register. `None` if there are none, or if a
/// type contradicts the format.
///
/// Files of Shader Model 5.1 do not tell how many elements arrays have: there it is as many as fit before what follows. A
/// constant that the program does not read has no record, so that its room counts to an array before it.
pub(in crate::reflection) fn layout(pdb: &Pdb<'_>, binding: &Binding) -> Option<BufferLayout> {
    let ResourceKind::ConstantBuffer { size } = binding.kind else { return None };
    let place = (binding.space, binding.register);
    let constants = pdb.constants.iter().filter(|constant| (constant.space, constant.register) == place);
    let fields = constants.map(|constant| (constant.offset, &constant.name[..], constant.ty)).collect();
    let fields = Reader { types: &pdb.types, fields_left: MAX_FIELDS }.fields(fields, size, 0)?;
    let last = fields.last()?;
    let end = last.offset.checked_add(last.size)?.checked_next_multiple_of(16)?;
    Some(BufferLayout { size: size.max(end), fields })
}

struct Reader<'a> {
    types: &'a DebugTypes,
    fields_left: usize,
}

/// One element of a type: its shape, its bytes, its name.
type Element = (FieldShape, u32, Option<String>);

impl<'a> Reader<'a> {
    /// Fields of the buffer or of a structure of that size: offset, name and type of each.
    fn fields(&mut self, mut fields: Vec<(u32, &'a str, u32)>, size: u32, depth: usize) -> Option<Vec<Field>> {
        self.fields_left = self.fields_left.checked_sub(fields.len())?;
        fields.sort_by_key(|&(offset, ..)| offset);
        let ends = fields[1.min(fields.len())..].iter().map(|&(offset, ..)| offset).chain([size]).collect::<Vec<_>>();
        let fields = fields.into_iter().zip(ends);
        fields.map(|((offset, name, ty), end)| self.field(offset, name, ty, end, depth)).collect()
    }

    fn field(&mut self, offset: u32, name: &str, ty: u32, end: u32, depth: usize) -> Option<Field> {
        let (mut index, mut record) = self.types.get(ty);
        // An array of arrays is one with all their elements, as the compiler's reflection has it.
        let mut extent = None;
        while let Some(&DebugType::Array { element, size }) = record {
            extent.get_or_insert(size);
            if element >= index {
                return None;
            }
            (index, record) = self.types.get(element);
        }
        let (shape, one, type_name) = self.element(index, record, depth)?;
        let (elements, stride, size) = match extent {
            None => (None, 0, one),
            Some(extent) => {
                let stride = one.checked_next_multiple_of(16).filter(|&stride| stride > 0)?;
                let room = if extent > 0 { extent } else { end.checked_sub(offset)? };
                let before_last = room.checked_sub(one)? / stride;
                (Some(before_last + 1), stride, before_last * stride + one)
            }
        };
        let ty = FieldType { shape, elements, stride, name: type_name };
        Some(Field { name: name.to_owned(), offset, size, ty, default_value: None, used: None })
    }

    fn element(&mut self, index: u32, record: Option<&'a DebugType>, depth: usize) -> Option<Element> {
        let length = |length: u32| u8::try_from(length).ok().filter(|length| (1..=4).contains(length));
        Some(match record {
            None | Some(DebugType::MinPrecision(_)) => {
                let (scalar, size, name) = scalar(index, record)?;
                (FieldShape::Scalar(scalar), size, Some(name.to_owned()))
            }
            Some(DebugType::Vector { element, count, size, name }) => {
                let scalar = self.number(*element)?;
                (FieldShape::Vector(scalar, length(*count)?), *size, Some(name.clone()))
            }
            Some(DebugType::Matrix { element, rows, columns, row_major, size, name }) => {
                let (rows, columns) = (length(*rows)?, length(*columns)?);
                let scalar = self.number(*element)?;
                let shape = FieldShape::Matrix { scalar, rows, columns, row_major: *row_major };
                // The record's size is that of columns, also where rows are contiguous.
                let size = match scalar {
                    FieldScalar::F64 => *size,
                    _ if *row_major => 16 * (u32::from(rows) - 1) + 4 * u32::from(columns),
                    _ => *size,
                };
                (shape, size, Some(name.clone()))
            }
            Some(DebugType::Struct { members, size, name }) if depth < MAX_DEPTH && *members < index => {
                let (_, Some(DebugType::Members(members))) = self.types.get(*members) else { return None };
                let members = members.iter().map(|member| (member.offset, &member.name[..], member.ty)).collect();
                (FieldShape::Struct(self.fields(members, *size, depth + 1)?), *size, Some(name.clone()))
            }
            _ => return None,
        })
    }

    /// The numbers of a vector or matrix.
    fn number(&self, ty: u32) -> Option<FieldScalar> {
        let (index, record) = self.types.get(ty);
        scalar(index, record).map(|(scalar, ..)| scalar)
    }
}

/// A number: its type, its bytes, and its name as `RDEF` has it. Built-in types are those of `TYPE_ENUM_e` of Microsoft's
/// `cvinfo.h`, minimum precision that of `CV_builtin_e`, which takes 32 bits in memory.
fn scalar(index: u32, record: Option<&DebugType>) -> Option<(FieldScalar, u32, &'static str)> {
    use FieldScalar::{Bool, F32, F64, I32, U32};
    Some(match (record, index) {
        (None, 0x40) => (F32, 4, "float"),
        (None, 0x41) => (F64, 8, "double"),
        (None, 0x62) => (Bool, 4, "bool"),
        (None, 0x74) => (I32, 4, "int"),
        (None, 0x75) => (U32, 4, "dword"),
        (Some(DebugType::MinPrecision(kind)), _) => match kind {
            0x21e => (F32, 4, "min8float"),
            0x21f => (F32, 4, "min10float"),
            0x220 => (F32, 4, "min16float"),
            0x221 => (I32, 4, "min12int"),
            0x222 => (I32, 4, "min16int"),
            0x223 => (U32, 4, "min16uint"),
            _ => return None,
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        container::{Container, ContainerWriter, FourCc},
        reflection::{Interface, ResourceClass},
    };

    const SHADER: &[u8] = include_bytes!("../../../tests/fixtures/container/fxc_constants.dxbc");
    const FILE: &[u8] = include_bytes!("../../../tests/fixtures/container/fxc_constants.pdb");
    const SHADER_5_1: &[u8] = include_bytes!("../../../tests/fixtures/container/fxc_constants_5_1.dxbc");
    const FILE_5_1: &[u8] = include_bytes!("../../../tests/fixtures/container/fxc_constants_5_1.pdb");

    /// What `RDEF` says of constant buffers, without what PDB files do not have, and what the PDB file says without it.
    fn both(shader: &[u8], file: &[u8]) -> [Vec<(u32, u32, BufferLayout)>; 2] {
        let layouts = |interface: Interface| {
            let buffers = interface.bindings.into_iter().filter(|binding| binding.class == ResourceClass::Cbv);
            let mut layouts =
                buffers.map(|buffer| (buffer.space, buffer.register, buffer.layout.unwrap())).collect::<Vec<_>>();
            layouts.sort_by_key(|&(space, register, _)| (space, register));
            layouts
        };
        let mut whole = layouts(crate::reflect(shader).unwrap());
        for (.., layout) in &mut whole {
            layout.fields.retain(|field| field.used != Some(false));
            for field in &mut layout.fields {
                field.used = None;
                field.default_value = None;
            }
        }
        let mut writer = ContainerWriter::from_container(&Container::parse(shader).unwrap());
        writer.remove(FourCc::RDEF);
        let mut stripped = crate::reflect(&writer.write().unwrap()).unwrap();
        assert!(stripped.bindings.iter().all(|binding| binding.name.is_none() && binding.layout.is_none()));
        stripped.add_names(&Pdb::parse(file).unwrap());
        let mut names = stripped.bindings.iter().filter_map(|binding| binding.name.clone()).collect::<Vec<_>>();
        names.sort();
        assert_eq!(names, ["image", "linear_sampler", "written"]);
        [whole, layouts(stripped)]
    }

    #[test]
    fn layouts_are_those_of_reflection() {
        let [whole, named] = both(SHADER, FILE);
        assert_eq!((whole.len(), whole[1].2.fields.len()), (2, 16));
        assert_eq!(named, whole);
    }

    #[test]
    fn spaces_and_arrays_of_shader_model_5_1() {
        let [mut whole, named] = both(SHADER_5_1, FILE_5_1);
        assert_eq!(
            whole.iter().map(|&(space, register, _)| (space, register)).collect::<Vec<_>>(),
            [(0, 0), (3, 4), (7, 2)]
        );
        // Nothing tells a `ConstantBuffer<T>` from a buffer with one variable.
        let members = std::mem::take(&mut whole[1].2.fields);
        let [field] = &named[1].2.fields[..] else { panic!("{:?}", named[1]) };
        assert_eq!((&field.name[..], field.offset, field.ty.name.as_deref()), ("whole", 0, Some("Whole")));
        assert_eq!(field.ty.shape, FieldShape::Struct(members));
        whole[1].2.fields = named[1].2.fields.clone();
        assert_eq!(named, whole);
    }

    #[test]
    fn damage_ends() {
        let container = Container::parse(SHADER).unwrap();
        let mut writer = ContainerWriter::from_container(&container);
        writer.remove(FourCc::RDEF);
        let stripped = crate::reflect(&writer.write().unwrap()).unwrap();
        let mut changed = 0;
        for offset in 0..FILE.len() {
            let mut file = FILE.to_vec();
            file[offset] ^= 0xff;
            if let Ok(pdb) = Pdb::parse(&file) {
                let mut interface = stripped.clone();
                interface.add_names(&pdb);
                changed += usize::from(
                    interface
                        .bindings
                        .iter()
                        .any(|binding| binding.class == ResourceClass::Cbv && binding.layout.is_none()),
                );
            }
        }
        assert!(changed > 0, "no change was noticed");
    }
}
