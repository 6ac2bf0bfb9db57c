//! Layouts of constant buffers and structured buffers: LLVM types together with `dx.typeAnnotations`.

use std::collections::HashMap;

use crate::{
    dxil::module::{Module, Node, Type, TypeId},
    reflection::{BufferLayout, Field, FieldScalar, FieldShape, FieldType, ResourceKind},
};

/// Nesting of structures in layouts, and fields in all of them: bounds for types that repeat each other.
const MAX_DEPTH: u32 = 32;
const MAX_FIELDS: u32 = 1 << 14;

/// Tags of a field's annotation.
mod tag {
    pub const MATRIX: u32 = 2;
    pub const CBUFFER_OFFSET: u32 = 3;
    pub const NAME: u32 = 6;
    pub const COMPONENT: u32 = 7;
    pub const USED: u32 = 9;
}

/// How members are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    /// Constant buffers: rows of 16 bytes; offsets stand in the annotations.
    Constant,
    /// Structured buffers: each member at a multiple of its scalar's size.
    Natural,
}

/// Builds layouts from the types of one module.
pub(super) struct Layouts<'a> {
    module: &'a Module,
    native_16_bit: bool,
    /// The annotations tell which fields of a constant buffer are used.
    knows_usage: bool,
    /// Annotations of structures.
    structs: HashMap<TypeId, Node<'a>>,
    /// Natural alignment of each type: that of its largest scalar.
    alignments: Vec<u32>,
    /// Fields that may still be described.
    budget: u32,
}

/// What a field's annotation says.
#[derive(Default)]
struct Annotation<'a> {
    name: Option<&'a str>,
    offset: Option<u32>,
    component: u32,
    /// Rows, columns, row-major.
    matrix: Option<(u8, u8, bool)>,
    used: Option<bool>,
}

impl<'a> Layouts<'a> {
    pub(super) fn new(module: &'a Module, native_16_bit: bool, knows_usage: bool) -> Self {
        let mut structs = HashMap::new();
        for node in module.named("dx.typeAnnotations") {
            // Tag 0: structures, each an undefined value of the type and its annotation.
            if node.integer(0) != Some(0) {
                continue;
            }
            for at in (1..node.len()).step_by(2) {
                if let (Some(ty), Some(annotation)) = (node.pointee(at), node.node(at + 1)) {
                    structs.insert(ty, annotation);
                }
            }
        }
        // The compiler annotates only the module that it keeps for reflection: without that, none of the others' fields
        // looks used.
        let is_used = |structure: &Node<'_>, index: usize| {
            structure.node(index).is_some_and(|field| field_annotation(field).used == Some(true))
        };
        let knows_usage = knows_usage
            && structs.values().any(|structure| (1..structure.len()).any(|index| is_used(structure, index)));
        let mut alignments: Vec<u32> = Vec::with_capacity(module.types.len());
        for (_, ty) in module.types.iter() {
            // Types that are contained by value come first.
            let of = |ty: &TypeId| alignments.get(ty.index()).copied().unwrap_or(4);
            alignments.push(match ty {
                Type::Array { element, .. } | Type::Vector { element, .. } => of(element),
                Type::Struct { fields, .. } => fields.iter().map(of).max().unwrap_or(1),
                Type::Half | Type::Integer(16) if native_16_bit => 2,
                Type::Double | Type::Integer(64) => 8,
                _ => 4,
            });
        }
        Self { module, native_16_bit, knows_usage, structs, alignments, budget: MAX_FIELDS }
    }

    /// Layout of a resource's contents, if the module describes it.
    pub(super) fn of_resource(
        &mut self,
        node: &Node<'_>,
        variable: usize,
        kind: &ResourceKind,
    ) -> Option<BufferLayout> {
        let ty = self.without_arrays(node.pointee(variable)?).0;
        match kind {
            ResourceKind::ConstantBuffer { .. } | ResourceKind::TextureBuffer { .. } => {
                let mut fields = self.fields(ty, Packing::Constant, 0)?;
                self.mark_usage(ty, &mut fields);
                let annotated = self.structs.get(&ty).and_then(|annotation| annotation.integer(0));
                Some(BufferLayout { size: annotated.map_or(0, |size| size as u32), fields })
            }
            ResourceKind::StructuredBuffer { stride, .. } => {
                // The class holds the element.
                let element = self.module.types.element(ty, 0)?;
                let fields = match self.module.types.get(element) {
                    Some(Type::Struct { .. }) => self.fields(element, Packing::Natural, 0)?,
                    _ => {
                        // The class's own annotation knows the sign of its numbers and the rows of a matrix.
                        let annotation = self.structs.get(&ty).and_then(|class| class.node(1));
                        let annotation = annotation.map(field_annotation).unwrap_or_default();
                        let (ty, size) = self.field_type(element, &annotation, Packing::Natural, 0)?;
                        let name = "$Element".to_owned();
                        vec![Field { name, offset: 0, size, ty, default_value: None, used: Some(true) }]
                    }
                };
                Some(BufferLayout { size: *stride, fields })
            }
            _ => None,
        }
    }

    /// Tells of each field of a constant buffer whether it is used. Those that are have an annotation, except for the only
    /// field of a buffer. The structure of a `ConstantBuffer<T>` may be that of several buffers.
    fn mark_usage(&self, ty: TypeId, fields: &mut [Field]) {
        let Some(Type::Struct { name, .. }) = self.module.types.get(ty) else { return };
        let name = name.as_deref().unwrap_or_default();
        let only = fields.len() == 1;
        let known =
            (self.knows_usage || only) && !name.strip_prefix("hostlayout.").unwrap_or(name).starts_with("struct.");
        for field in fields {
            field.used = known.then_some(only || field.used == Some(true));
        }
    }

    /// Fields of an annotated structure.
    fn fields(&mut self, ty: TypeId, packing: Packing, depth: u32) -> Option<Vec<Field>> {
        let Some(Type::Struct { fields, .. }) = self.module.types.get(ty) else { return None };
        let annotation = *self.structs.get(&ty)?;
        if depth >= MAX_DEPTH {
            return None;
        }
        let mut described = Vec::new();
        let mut end = 0;
        for (index, &field) in fields.iter().enumerate() {
            self.budget = self.budget.checked_sub(1)?;
            let annotation = annotation.node(index + 1).map(field_annotation).unwrap_or_default();
            let (ty, size) = self.field_type(field, &annotation, packing, depth)?;
            let offset = match packing {
                Packing::Constant => annotation.offset.unwrap_or(end),
                Packing::Natural => end.checked_next_multiple_of(self.alignment(field))?,
            };
            end = offset.checked_add(size)?;
            let name = annotation.name.unwrap_or_default().to_owned();
            described.push(Field { name, offset, size, ty, default_value: None, used: annotation.used });
        }
        described.sort_by_key(|field| field.offset);
        Some(described)
    }

    /// Type of a field and the bytes it covers.
    fn field_type(
        &mut self,
        ty: TypeId,
        annotation: &Annotation<'_>,
        packing: Packing,
        depth: u32,
    ) -> Option<(FieldType, u32)> {
        let (element, elements) = match annotation.matrix {
            Some(_) => self.matrix_arrays(ty),
            None => {
                let (element, elements) = self.without_arrays(ty);
                (element, self.is_array(ty).then_some(elements))
            }
        };
        let (shape, size, name) = match (annotation.matrix, self.module.types.get(element)?) {
            (Some((rows, columns, row_major)), _) => {
                let (scalar, name) = self.scalar(self.innermost(element)?, annotation.component)?;
                let width = scalar_size(scalar);
                let (vectors, length) = if row_major { (rows, columns) } else { (columns, rows) };
                let stride = match packing {
                    Packing::Constant => (u32::from(length) * width).next_multiple_of(16),
                    Packing::Natural => u32::from(length) * width,
                };
                let size = (u32::from(vectors) - 1) * stride + u32::from(length) * width;
                let name = format!("{name}{rows}x{columns}");
                (FieldShape::Matrix { scalar, rows, columns, row_major }, size, Some(name))
            }
            (None, Type::Struct { name, .. }) => {
                let name = name.as_deref().map(struct_name);
                let fields = self.fields(element, packing, depth + 1)?;
                let size = match packing {
                    Packing::Constant => self.structs.get(&element)?.integer(0)? as u32,
                    Packing::Natural => {
                        let end = fields.last().map_or(0, |field| field.offset.saturating_add(field.size));
                        end.checked_next_multiple_of(self.alignment(element))?
                    }
                };
                (FieldShape::Struct(fields), size, name)
            }
            (None, Type::Vector { element: scalar, len }) => {
                let (scalar, name) = self.scalar(*scalar, annotation.component)?;
                if *len == 0 || *len > 4 {
                    return None;
                }
                (FieldShape::Vector(scalar, *len as u8), scalar_size(scalar) * len, Some(format!("{name}{len}")))
            }
            (None, _) => {
                let (scalar, name) = self.scalar(element, annotation.component)?;
                // As both compilers' reflection has it.
                let name = if name == "uint" { "dword" } else { name };
                (FieldShape::Scalar(scalar), scalar_size(scalar), Some(name.to_owned()))
            }
        };
        let stride = match packing {
            Packing::Constant => size.checked_next_multiple_of(16)?,
            Packing::Natural => size,
        };
        let total = match elements {
            // The last element of a constant buffer's array is not padded.
            Some(count @ 1..) => stride.checked_mul(u32::try_from(count - 1).ok()?)?.checked_add(size)?,
            Some(0) => 0,
            None => size,
        };
        let elements = elements.map(|count| count as u32);
        let stride = if elements.is_some() { stride } else { 0 };
        Some((FieldType { shape, elements, stride, name }, total))
    }

    fn is_array(&self, ty: TypeId) -> bool {
        matches!(self.module.types.get(ty), Some(Type::Array { .. }))
    }

    /// What arrays of arrays hold in the end, and how often.
    fn without_arrays(&self, mut ty: TypeId) -> (TypeId, u64) {
        let mut count = 1u64;
        while let Some(Type::Array { element, len }) = self.module.types.get(ty) {
            count = count.saturating_mul(*len);
            ty = *element;
        }
        (ty, count)
    }

    /// An array of matrices: the matrix, and how often. A matrix is a class that holds an array of vectors, or this
    /// array itself.
    fn matrix_arrays(&self, mut ty: TypeId) -> (TypeId, Option<u64>) {
        let mut count = None;
        while let Some(Type::Array { element, len }) = self.module.types.get(ty) {
            if matches!(self.module.types.get(*element), Some(Type::Vector { .. })) {
                break;
            }
            count = Some(count.unwrap_or(1u64).saturating_mul(*len));
            ty = *element;
        }
        (ty, count)
    }

    /// The scalar inside of arrays, vectors and classes.
    fn innermost(&self, mut ty: TypeId) -> Option<TypeId> {
        loop {
            match self.module.types.get(ty)? {
                Type::Array { element, .. } | Type::Vector { element, .. } => ty = *element,
                Type::Struct { fields, .. } => ty = *fields.first()?,
                _ => return Some(ty),
            }
        }
    }

    /// Type of a number, and its name in HLSL: the annotation's component type, which knows signs, or what LLVM's type
    /// says. Numbers of minimum precision take 32 bits in memory.
    fn scalar(&self, ty: TypeId, component: u32) -> Option<(FieldScalar, &'static str)> {
        // DXIL::ComponentType.
        let scalar = match component {
            1 => FieldScalar::Bool,
            2 => FieldScalar::I16,
            3 => FieldScalar::U16,
            4 => FieldScalar::I32,
            5 => FieldScalar::U32,
            6 => FieldScalar::I64,
            7 => FieldScalar::U64,
            8 | 11 | 12 => FieldScalar::F16,
            9 | 13 | 14 => FieldScalar::F32,
            10 | 15 | 16 => FieldScalar::F64,
            _ => match self.module.types.get(ty)? {
                Type::Half => FieldScalar::F16,
                Type::Float => FieldScalar::F32,
                Type::Double => FieldScalar::F64,
                Type::Integer(1) => FieldScalar::Bool,
                Type::Integer(16) => FieldScalar::I16,
                Type::Integer(32) => FieldScalar::I32,
                Type::Integer(64) => FieldScalar::I64,
                _ => return None,
            },
        };
        Some(match (scalar, self.native_16_bit) {
            (FieldScalar::I16, false) => (FieldScalar::I32, "min16int"),
            (FieldScalar::U16, false) => (FieldScalar::U32, "min16uint"),
            (FieldScalar::F16, false) => (FieldScalar::F32, "min16float"),
            (FieldScalar::I16, true) => (scalar, "int16_t"),
            (FieldScalar::U16, true) => (scalar, "uint16_t"),
            (FieldScalar::F16, true) => (scalar, "float16_t"),
            (FieldScalar::Bool, _) => (scalar, "bool"),
            (FieldScalar::I32, _) => (scalar, "int"),
            (FieldScalar::U32, _) => (scalar, "uint"),
            (FieldScalar::I64, _) => (scalar, "int64_t"),
            (FieldScalar::U64, _) => (scalar, "uint64_t"),
            (FieldScalar::F32, _) => (scalar, "float"),
            (FieldScalar::F64, _) => (scalar, "double"),
            (FieldScalar::Unknown, _) => return None,
        })
    }

    fn alignment(&self, ty: TypeId) -> u32 {
        self.alignments.get(ty.index()).copied().unwrap_or(4)
    }
}

/// Bytes of a number in memory.
fn scalar_size(scalar: FieldScalar) -> u32 {
    match scalar {
        FieldScalar::I16 | FieldScalar::U16 | FieldScalar::F16 => 2,
        FieldScalar::I64 | FieldScalar::U64 | FieldScalar::F64 => 8,
        _ => 4,
    }
}

fn field_annotation(node: Node<'_>) -> Annotation<'_> {
    let mut annotation = Annotation::default();
    for (tag, at) in node.tags() {
        match tag {
            tag::MATRIX => {
                annotation.matrix = node.node(at).and_then(|matrix| {
                    let (rows, columns) = (matrix.integer(0)?, matrix.integer(1)?);
                    let valid = (1..=4).contains(&rows) && (1..=4).contains(&columns);
                    // DXIL::MatrixOrientation: 1 row-major, 2 column-major.
                    valid.then_some((rows as u8, columns as u8, matrix.integer(2)? == 1))
                });
            }
            tag::CBUFFER_OFFSET => annotation.offset = node.integer(at).map(|offset| offset as u32),
            tag::NAME => annotation.name = node.string(at),
            tag::COMPONENT => annotation.component = node.integer(at).unwrap_or(0) as u32,
            tag::USED => annotation.used = node.integer(at).map(|used| used != 0),
            _ => {}
        }
    }
    annotation
}

/// Name of a structure in the HLSL: `Light` of `struct.Light` or `hostlayout.struct.Light`.
fn struct_name(name: &str) -> String {
    let name = name.strip_prefix("hostlayout.").unwrap_or(name);
    name.strip_prefix("struct.").or_else(|| name.strip_prefix("class.")).unwrap_or(name).to_owned()
}
