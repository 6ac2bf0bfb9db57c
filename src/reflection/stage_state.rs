//! Hull, domain and geometry shaders as compute shaders: [`StageStateLayout`], and the binding by which a host runs them.
//!
//! Portable APIs lack these stages, so such a program becomes a compute shader over states. A state is all that one run
//! of the stage reads and writes: a host fills the inputs of one for each patch, domain point or primitive (and instance
//! of a geometry shader), dispatches a thread for each, and finds the outputs in the same state. The states are the
//! elements of the structured buffer [`STAGE_STATES`], which lifted programs of these stages list last among their
//! [bindings](super::Interface::bindings).
//!
//! A state, in rows of four `uint`s:
//! * Row 0: x: `SV_PrimitiveID`, y: `SV_GSInstanceID`, z: `SV_ViewID`, w: number of vertices that a geometry shader
//!   emitted, which is written.
//! * Row 1: `SV_DomainLocation` of a domain shader, three `float`s.
//! * `inputs`: the registers of each vertex or control point in turn, a row each.
//! * `patch_constants`: registers that a hull shader writes and a domain shader reads.
//! * `outputs`: the registers of each control point that a hull shader writes, of the vertex that a domain shader writes,
//!   or of each vertex that a geometry shader emits.
//! * `strips`: for each vertex that a geometry shader emits a `uint`: its stream in bits 0 and 1, and bit 2 if it joins the
//!   strip of the stream's vertex before it.
//!
//! An element of a signature is at its register and components ([`SignatureElement::register`]); numbers are kept as
//! their bits, those of fewer than 32 widened.

use super::{
    Binding, BufferLayout, EntryPointInterface, Field, FieldScalar, FieldShape, FieldType, Interface, ResourceClass,
    ResourceKind, SignatureElement, Stage, SystemValue, UavFlags,
};

/// Register space of [`STAGE_STATES`]: none that HLSL can name in a root signature of Direct3D.
pub const STAGE_SPACE: u32 = 0xfc00;

/// Name of the unordered-access view `u0` in [`STAGE_SPACE`].
pub const STAGE_STATES: &str = "StageStates";

/// Threads of a group of the compute shader; the group index and the thread are those of one dimension, x.
pub const STAGE_THREADS: u32 = 32;

/// Bytes of a row: a register.
pub const STAGE_ROW: u32 = 16;

/// Vertices or control points of a primitive, at most (`D3D11_IA_PATCH_MAX_CONTROL_POINT_COUNT`).
const MAX_CONTROL_POINTS: u32 = 32;

/// Vertices that a geometry shader emits, at most (`D3D11_GS_MAX_OUTPUT_VERTEX_COUNT_ACROSS_INSTANCES`).
const MAX_EMITTED: u32 = 1024;

/// Registers of a signature, at most: more than the 32 of Direct3D 11, so that what others write is not cut.
const MAX_REGISTERS: u32 = 128;

/// Rows of one element, at most.
const MAX_ELEMENT_ROWS: u32 = 32;

/// Registers of some vertices within a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageRegisters {
    /// First byte within the state.
    pub offset: u32,
    /// Vertices or control points, where there are several or may be.
    pub vertices: Option<u32>,
    /// Registers of each, at least 1.
    pub registers: u32,
    /// First register of each element, by its index in the signature; `None` of system values that are in row 0 or 1.
    pub first: Vec<Option<u32>>,
}

impl StageRegisters {
    /// The registers of a signature, from offset 0 on.
    pub fn new(elements: &[SignatureElement], vertices: Option<u32>) -> Self {
        let rows = |element: &SignatureElement| element.rows.clamp(1, MAX_ELEMENT_ROWS);
        let ends = elements.iter().filter_map(|element| element.register?.checked_add(rows(element)));
        let mut registers = ends.filter(|end| *end <= MAX_REGISTERS).max().unwrap_or(0);
        let mut place = |element: &SignatureElement| {
            if let Some(register) = element.register
                && register.checked_add(rows(element)).is_some_and(|end| end <= registers)
            {
                return Some(register);
            }
            if is_in_leading_rows(element.system_value) {
                return None;
            }
            let next = registers;
            registers += rows(element);
            Some(next)
        };
        let first = elements.iter().map(&mut place).collect();
        Self { offset: 0, vertices, registers: registers.max(1), first }
    }

    /// Bytes of all vertices.
    pub fn size(&self) -> u32 {
        self.vertices.unwrap_or(1) * self.registers * STAGE_ROW
    }
}

/// System values that are no registers.
fn is_in_leading_rows(value: SystemValue) -> bool {
    use SystemValue as S;
    matches!(value, S::PrimitiveId | S::GsInstanceId | S::ViewId | S::DomainLocation | S::OutputControlPointId)
}

/// Where things are in a state: see the [module](self).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageStateLayout {
    /// Input signature.
    pub inputs: StageRegisters,
    /// Patch constants of hull and domain shaders.
    pub patch_constants: Option<StageRegisters>,
    /// Output signature; of a geometry shader, of every emitted vertex.
    pub outputs: StageRegisters,
    /// First byte of a geometry shader's strips, and how many there are.
    pub strips: Option<(u32, u32)>,
    /// Bytes of a state.
    pub size: u32,
}

impl StageStateLayout {
    /// The layout for an entry point; `None` if its stage needs none.
    pub fn of(entry: &EntryPointInterface) -> Option<Self> {
        let facts = &entry.facts.primitives;
        let points = |count: Option<u32>| Some(count.unwrap_or(MAX_CONTROL_POINTS).clamp(1, MAX_CONTROL_POINTS));
        let (read, written) = match entry.stage {
            Stage::Hull => (points(facts.input_control_points), points(facts.output_control_points)),
            Stage::Domain => (points(facts.input_control_points), None),
            Stage::Geometry => {
                let emitted = facts.max_vertex_count.unwrap_or(MAX_EMITTED).clamp(1, MAX_EMITTED);
                (Some(primitive_vertices(facts.input_primitive)), Some(emitted))
            }
            _ => return None,
        };
        let mut size = 2 * STAGE_ROW;
        let mut place = |mut registers: StageRegisters| {
            registers.offset = size;
            size += registers.size();
            registers
        };
        let inputs = place(StageRegisters::new(&entry.inputs, read));
        let has_patch = entry.stage != Stage::Geometry;
        let patch_constants = has_patch.then(|| place(StageRegisters::new(&entry.patch_constants, None)));
        let outputs = place(StageRegisters::new(&entry.outputs, written));
        let strips = (entry.stage == Stage::Geometry).then(|| {
            let count = written.unwrap_or(1);
            let offset = size;
            size += (count * 4).next_multiple_of(STAGE_ROW);
            (offset, count)
        });
        Some(Self { inputs, patch_constants, outputs, strips, size })
    }
}

/// Vertices of a `D3D_PRIMITIVE`: a point, line or triangle, the latter two with adjacency, or a patch.
fn primitive_vertices(primitive: Option<u32>) -> u32 {
    match primitive {
        Some(1) => 1,
        Some(2) => 2,
        Some(3) => 3,
        Some(6) => 4,
        Some(7) => 6,
        Some(patch @ 8..=39) => patch - 7,
        _ => MAX_CONTROL_POINTS,
    }
}

/// The binding of [`STAGE_STATES`], if the interface is of such a stage: for its first entry point of one.
pub fn stage_binding(interface: &Interface) -> Option<Binding> {
    let layout = interface.entry_points.iter().find_map(StageStateLayout::of)?;
    let row = |name: &str, offset: u32, scalar: FieldScalar, elements: Option<u32>| Field {
        name: name.to_owned(),
        offset,
        size: elements.unwrap_or(1) * STAGE_ROW,
        ty: FieldType {
            shape: FieldShape::Vector(scalar, 4),
            elements,
            stride: if elements.is_some() { STAGE_ROW } else { 0 },
            name: None,
        },
        default_value: None,
        used: None,
    };
    let of = |name: &str, registers: &StageRegisters| {
        let rows = registers.vertices.unwrap_or(1) * registers.registers;
        row(name, registers.offset, FieldScalar::U32, Some(rows))
    };
    let mut fields = vec![
        row("values", 0, FieldScalar::U32, None),
        row("domain_location", STAGE_ROW, FieldScalar::F32, None),
        of("inputs", &layout.inputs),
    ];
    fields.extend(layout.patch_constants.as_ref().map(|constants| of("patch_constants", constants)));
    fields.push(of("outputs", &layout.outputs));
    fields.extend(layout.strips.map(|(offset, count)| Field {
        name: "strips".to_owned(),
        offset,
        size: count * 4,
        ty: FieldType { shape: FieldShape::Scalar(FieldScalar::U32), elements: Some(count), stride: 4, name: None },
        default_value: None,
        used: None,
    }));
    Some(Binding {
        name: Some(STAGE_STATES.to_owned()),
        class: ResourceClass::Uav,
        space: STAGE_SPACE,
        register: 0,
        count: Some(1),
        kind: ResourceKind::StructuredBuffer { stride: layout.size, counter: false, flags: UavFlags::default() },
        layout: Some(BufferLayout { size: layout.size, fields }),
    })
}
