//! Buffers: constant, typed, raw and structured; atomic operations, on textures too.

use smallvec::SmallVec;

use super::Call;
use crate::{
    Error, Result,
    dxil::lower::{FunctionLowering, Handle, Lowered},
    ir::{AtomicOp, BinaryOp, BufferAddress, CompareOp, ConvertOp, Op, Scalar, Type, Value},
    reflection::{ResourceClass, ResourceKind},
};

type Lowering<'m, 'a> = FunctionLowering<'m, 'a>;

/// Status of an access: every access is to mapped memory.
fn status(f: &mut Lowering<'_, '_>) -> Value {
    f.function.i32(1)
}

impl FunctionLowering<'_, '_> {
    /// What a handle is bound to.
    pub fn kind(&self, handle: Handle) -> ResourceKind {
        self.parent.interface.bindings[handle.binding.index()].kind
    }

    /// A handle is of an unordered-access view.
    pub fn is_uav(&self, handle: Handle) -> bool {
        self.parent.interface.bindings[handle.binding.index()].class == ResourceClass::Uav
    }

    /// Place of the scalar number `element` of those that an address leads to.
    fn offset_address(&mut self, address: BufferAddress, element: u32, scalar: Scalar) -> BufferAddress {
        let offset = self.function.i32(element * scalar.bytes());
        match address {
            BufferAddress::Element(index) => BufferAddress::Element(index),
            BufferAddress::Byte(byte) => BufferAddress::Byte(self.add(byte, offset)),
            BufferAddress::Structured(index, byte) => BufferAddress::Structured(index, self.add(byte, offset)),
        }
    }
}

/// Address from the coordinates of a buffer, two arguments.
fn address(f: &mut Lowering<'_, '_>, call: &Call<'_>, handle: Handle, index: usize) -> Result<BufferAddress> {
    let first = call.i32(f, index)?;
    Ok(match f.kind(handle) {
        ResourceKind::TypedBuffer { .. } | ResourceKind::TextureBuffer { .. } => BufferAddress::Element(first),
        ResourceKind::RawBuffer { .. } => BufferAddress::Byte(first),
        ResourceKind::StructuredBuffer { .. } => {
            let offset = match call.optional(f, index + 1)? {
                Some(offset) if f.function.ty(offset) == Type::I32 => offset,
                Some(_) => return Err(Error::malformed("offset is no i32")),
                None => f.function.i32(0),
            };
            BufferAddress::Structured(first, offset)
        }
        kind => return Err(Error::malformed(format!("resource is no buffer: {kind:?}"))),
    })
}

/// Number of the lanes up to the last that is used, at least one.
fn lanes_of(used: u64) -> u8 {
    (64 - (used & 0xf).leading_zeros()).max(1) as u8
}

/// A result of four numbers and a status, of which `vector` has the first.
fn padded(f: &mut Lowering<'_, '_>, vector: Value, used: u64, count: u8) -> Lowered {
    let ty = f.function.ty(vector);
    let scalar = Type::Scalar(ty.scalar().unwrap_or(Scalar::I32));
    let mut rest: SmallVec<[Value; 4]> = SmallVec::new();
    for _ in ty.lanes()..count {
        rest.push(f.function.zero(scalar));
    }
    rest.push(status(f));
    f.take_apart(vector, used, &rest)
}

/// Handle of a constant buffer.
fn constant_buffer(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Handle> {
    let handle = f.handle_argument(call, 0)?;
    match f.kind(handle) {
        ResourceKind::ConstantBuffer { .. } | ResourceKind::TextureBuffer { .. } => Ok(handle),
        kind => Err(Error::malformed(format!("resource is no constant buffer: {kind:?}"))),
    }
}

/// Handle, row: as many numbers as fit into a row.
pub fn load_constant_row(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let handle = constant_buffer(f, call)?;
    let row = call.i32(f, 1)?;
    let types = f.parent.scalar_types(call.ty)?;
    let Some(&scalar) = types.first().filter(|&first| types.iter().all(|ty| ty == first)) else {
        return Err(Error::malformed("row of numbers of different types"));
    };
    if scalar == Scalar::Bool {
        return Err(Error::malformed("row of bools"));
    }
    // Minimum-precision numbers take 32 bits: the second half of eight does not exist.
    let width = scalar.bytes();
    let count = types.len().min((16 / width) as usize);
    let used = f.members_used(call.result) & ((1 << count) - 1);
    let used = if used == 0 { 1 } else { used };
    let mut scalars = SmallVec::<[Value; 4]>::new();
    let zero = f.function.zero(Type::Scalar(scalar));
    scalars.resize(types.len(), zero);
    // Vectors have at most four lanes: halves may need two loads.
    for start in (0..count).step_by(4) {
        let window = used >> start & 0xf;
        if window == 0 {
            continue;
        }
        let first = window.trailing_zeros();
        let lanes = 64 - window.leading_zeros() - first;
        let offset = ((start as u32 + first) * width) as u8;
        let ty = Type::new(scalar, lanes as u8);
        let vector = f.build().push(Op::LoadConstant { handle: handle.value, row, offset }, ty);
        for lane in 0..lanes {
            if window >> (first + lane) & 1 == 1 {
                scalars[start + (first + lane) as usize] = f.build().extract(vector, lane as u8);
            }
        }
    }
    Ok(Some(Lowered::Scalars(scalars)))
}

/// Handle, byte, alignment: one number.
pub fn load_constant(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let handle = constant_buffer(f, call)?.value;
    let byte = call.i32(f, 1)?;
    let scalar = call.result_scalar(f)?;
    if scalar == Scalar::Bool {
        return Err(Error::malformed("bool in memory"));
    }
    let ty = Type::Scalar(scalar);
    if let Some(byte) = f.function.as_scalar_constant(byte) {
        let row = f.function.i32(byte as u32 / 16);
        let offset = (byte as u32 % 16 / scalar.bytes() * scalar.bytes()) as u8;
        return Ok(Some(Lowered::scalar(f.build().push(Op::LoadConstant { handle, row, offset }, ty))));
    }
    let mut build = f.build();
    let four = build.i32(4);
    let row = build.binary(BinaryOp::LShr, byte, four);
    let mask = build.i32(15);
    let within = build.binary(BinaryOp::And, byte, mask);
    let shift = build.i32(scalar.bytes().trailing_zeros());
    let index = build.binary(BinaryOp::LShr, within, shift);
    let lanes = (16 / scalar.bytes()) as u8;
    if lanes > 4 {
        // A half of one of the row's words.
        let (two, one) = (build.i32(2), build.i32(1));
        let index = build.binary(BinaryOp::LShr, within, two);
        let row = build.push(Op::LoadConstant { handle, row, offset: 0 }, Type::Vector(Scalar::I32, 4));
        let word = build.push(Op::ExtractDynamic(row, index), Type::I32);
        let half = build.binary(BinaryOp::LShr, byte, one);
        let half = build.binary(BinaryOp::And, half, one);
        let shift = build.binary(BinaryOp::Shl, half, four);
        let word = build.binary(BinaryOp::LShr, word, shift);
        let bits = build.convert(ConvertOp::Trunc, word, Scalar::I16);
        return Ok(Some(Lowered::scalar(build.bitcast(bits, scalar))));
    }
    let vector = build.push(Op::LoadConstant { handle, row, offset: 0 }, Type::new(scalar, lanes));
    Ok(Some(Lowered::scalar(build.push(Op::ExtractDynamic(vector, index), ty))))
}

/// Handle, two coordinates: four numbers and a status.
pub fn load(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let handle = f.handle_argument(call, 0)?;
    let scalar = memory_scalar(f, call)?;
    let address = address(f, call, handle, 1)?;
    let used = f.members_used(call.result);
    let ty = Type::new(scalar, lanes_of(used));
    let op = match (f.kind(handle), address) {
        (ResourceKind::TextureBuffer { .. }, BufferAddress::Element(row)) if scalar.bytes() == 4 => {
            Op::LoadConstant { handle: handle.value, row, offset: 0 }
        }
        _ => Op::LoadBuffer { handle: handle.value, address },
    };
    let vector = f.build().push(op, ty);
    Ok(Some(padded(f, vector, used, 4)))
}

/// Type of the result's numbers.
fn memory_scalar(f: &Lowering<'_, '_>, call: &Call<'_>) -> Result<Scalar> {
    match call.result_scalar(f)? {
        Scalar::Bool => Err(Error::malformed("bool in memory")),
        scalar => Ok(scalar),
    }
}

/// Handle, two coordinates, mask, alignment: four numbers and a status.
pub fn load_raw(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let handle = f.handle_argument(call, 0)?;
    let scalar = memory_scalar(f, call)?;
    let address = address(f, call, handle, 1)?;
    let used = f.members_used(call.result) & (u64::from(call.constant(f, 3)?) | !0xf);
    let vector = f.build().push(Op::LoadBuffer { handle: handle.value, address }, Type::new(scalar, lanes_of(used)));
    Ok(Some(padded(f, vector, used, 4)))
}

/// Handle, two coordinates, alignment: a vector of any length and a status.
pub fn load_raw_vector(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let handle = f.handle_argument(call, 0)?;
    let scalar = memory_scalar(f, call)?;
    let address = address(f, call, handle, 1)?;
    let count = f.parent.scalar_types(call.ty)?.len().saturating_sub(1);
    let mut scalars: SmallVec<[Value; 4]> = SmallVec::new();
    while scalars.len() < count {
        let lanes = (count - scalars.len()).min(4) as u8;
        let address = f.offset_address(address, scalars.len() as u32, scalar);
        let ty = Type::new(scalar, lanes);
        let vector = f.build().push(Op::LoadBuffer { handle: handle.value, address }, ty);
        for lane in 0..lanes {
            scalars.push(f.build().extract(vector, lane));
        }
    }
    scalars.push(status(f));
    Ok(Some(Lowered::Scalars(scalars)))
}

/// Handle of a buffer that can be written.
fn writable(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Handle> {
    let handle = f.handle_argument(call, 0)?;
    match f.is_uav(handle) {
        true => Ok(handle),
        false => Err(Error::malformed("write to a resource that is no unordered-access view")),
    }
}

/// Handle, two coordinates, four numbers, mask.
pub fn store(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let handle = writable(f, call)?;
    let address = address(f, call, handle, 1)?;
    let mask = call.constant(f, 7)? & 0xf;
    if let BufferAddress::Element(_) = address {
        let texel = texel(f, call, 3)?;
        f.build().effect(Op::StoreBuffer { handle: handle.value, address, value: texel });
        return Ok(None);
    }
    store_masked(f, call, handle, address, mask)
}

/// Handle, two coordinates, four numbers, mask, alignment.
pub fn store_raw(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let handle = writable(f, call)?;
    let address = address(f, call, handle, 1)?;
    let mask = call.constant(f, 7)? & 0xf;
    store_masked(f, call, handle, address, mask)
}

/// Four numbers from an argument on, as a vector; what is undefined becomes a copy of the first.
pub fn texel(f: &mut Lowering<'_, '_>, call: &Call<'_>, start: usize) -> Result<Value> {
    let mut values: SmallVec<[Value; 4]> = SmallVec::new();
    for index in start..start + 4 {
        let value = match call.optional(f, index)? {
            Some(value) => value,
            None => match values.first() {
                Some(&first) => first,
                None => call.number(f, index)?,
            },
        };
        values.push(value);
    }
    call.same(f, &values)?;
    if f.function.ty(values[0]) == Type::BOOL {
        return Err(Error::malformed("bool in memory"));
    }
    Ok(f.build().compose(&values))
}

/// Stores the runs of components that a mask names.
fn store_masked(
    f: &mut Lowering<'_, '_>,
    call: &Call<'_>,
    handle: Handle,
    address: BufferAddress,
    mask: u32,
) -> Result<Option<Lowered>> {
    let mut component = 0;
    while component < 4 {
        let run = (mask >> component).trailing_ones();
        if run == 0 {
            component += 1;
            continue;
        }
        let mut values: SmallVec<[Value; 4]> = SmallVec::new();
        for index in component..component + run {
            values.push(call.number(f, 3 + index as usize)?);
        }
        call.same(f, &values)?;
        let scalar = f.function.ty(values[0]).scalar().filter(|scalar| *scalar != Scalar::Bool);
        let scalar = scalar.ok_or_else(|| Error::malformed("bool in memory"))?;
        let address = f.offset_address(address, component, scalar);
        let value = f.build().compose(&values);
        f.build().effect(Op::StoreBuffer { handle: handle.value, address, value });
        component += run;
    }
    Ok(None)
}

/// Handle, two coordinates, vector of any length, alignment.
pub fn store_raw_vector(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let handle = writable(f, call)?;
    let address = address(f, call, handle, 1)?;
    let vector = f.value(call.argument(3)?)?;
    let values: Vec<Value> = vector.scalars()?.to_vec();
    call.same(f, &values)?;
    for (chunk, values) in values.chunks(4).enumerate() {
        let scalar = f.function.ty(values[0]).scalar().filter(|scalar| *scalar != Scalar::Bool);
        let scalar = scalar.ok_or_else(|| Error::malformed("bool in memory"))?;
        let address = f.offset_address(address, 4 * chunk as u32, scalar);
        let value = f.build().compose(values);
        f.build().effect(Op::StoreBuffer { handle: handle.value, address, value });
    }
    Ok(None)
}

/// Handle, 1 or -1.
pub fn update_counter(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let handle = writable(f, call)?;
    if !matches!(f.kind(handle), ResourceKind::StructuredBuffer { .. }) {
        return Err(Error::malformed("counter of a buffer that is not structured"));
    }
    // An i8.
    let increment = call.constant(f, 1)? as i32 > 0;
    let value = f.build().push(Op::UpdateCounter { handle: handle.value, increment }, Type::I32);
    Ok(Some(Lowered::scalar(value)))
}

/// Handle, `DXIL::AtomicBinOpCode`, three coordinates, operand.
pub fn atomic(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let op = match call.constant(f, 1)? {
        0 => AtomicOp::Add,
        1 => AtomicOp::And,
        2 => AtomicOp::Or,
        3 => AtomicOp::Xor,
        4 => AtomicOp::SMin,
        5 => AtomicOp::SMax,
        6 => AtomicOp::UMin,
        7 => AtomicOp::UMax,
        8 => AtomicOp::Exchange,
        op => return Err(Error::malformed(format!("unknown atomic operation: {op}"))),
    };
    let value = call.integer(f, 5)?;
    atomic_access(f, call, op, 2, value, None)
}

/// Handle, three coordinates, what is compared, what is written.
pub fn compare_exchange(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let (compare, value) = (call.integer(f, 4)?, call.integer(f, 5)?);
    call.same(f, &[compare, value])?;
    atomic_access(f, call, AtomicOp::CompareExchange, 1, value, Some(compare))
}

fn atomic_access(
    f: &mut Lowering<'_, '_>,
    call: &Call<'_>,
    op: AtomicOp,
    coordinates: usize,
    value: Value,
    compare: Option<Value>,
) -> Result<Option<Lowered>> {
    let handle = writable(f, call)?;
    let ty = f.function.ty(value);
    let op = match f.kind(handle) {
        ResourceKind::Texture { dimension, .. } => {
            let lanes = dimension.coordinates() + u8::from(dimension.is_arrayed());
            let coordinates = call.vector(f, coordinates, lanes, Scalar::I32)?;
            Op::AtomicTexture { op, handle: handle.value, coordinates, value, compare }
        }
        _ => {
            let address = address(f, call, handle, coordinates)?;
            Op::AtomicBuffer { op, handle: handle.value, address, value, compare }
        }
    };
    Ok(Some(Lowered::scalar(f.build().push(op, ty))))
}

/// Status: the access was to mapped memory.
pub fn check_access_fully_mapped(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let status = call.i32(f, 0)?;
    let mut build = f.build();
    let zero = build.i32(0);
    let value = match build.function.as_scalar_constant(status) {
        Some(status) => build.function.constant(Type::BOOL, &[u64::from(status != 0)]),
        None => build.compare(CompareOp::INe, status, zero),
    };
    Ok(Some(Lowered::scalar(value)))
}
