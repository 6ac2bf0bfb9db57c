//! How functions use their resources: what Direct3D leaves to the views that are bound, and naga wants declared.

use std::collections::BTreeMap;

use naga::ScalarKind;

use super::{resources::is_unfilterable, sample::asks_for_a_level};
use crate::{
    Error, Result,
    ir::{AtomicOp, BindingId, Function, FunctionId, Module, Op, RayQueryOp, Scalar, Type, Value},
    lift::{ResourceSpecialization, Target},
    reflection::Binding,
};

/// How one binding is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    /// Texels, elements or words are read.
    pub loads: bool,
    /// They are written.
    pub stores: bool,
    /// Atomic operations on 32-bit integers.
    pub atomics: AtomicUsage,
    /// Atomic operations on 64-bit integers.
    pub wide_atomics: AtomicUsage,
    /// Lanes of texels that are read, or written with another value than the first lane.
    pub lanes: u8,
    /// Pieces of less than 32 bits are written.
    pub halves_stored: bool,
    /// It is sampled without a comparison, or is the sampler of such with textures that can be filtered.
    pub sampled: bool,
    /// It is the sampler of textures that cannot be filtered.
    pub unfiltered: bool,
    /// It is sampled with a comparison, or is the sampler of such.
    pub compared: bool,
    /// Of what [`Op::TextureSize`] gives, the lanes that are used.
    pub size_lanes: u8,
    /// Its counter is used.
    pub counter: bool,
    /// Loads of constants that are floats.
    pub float_constants: u32,
    /// Loads of constants that are not.
    pub other_constants: u32,
}

/// How atomic operations on integers of one width use a binding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AtomicUsage {
    /// There are some.
    pub any: bool,
    /// Among them minima or maxima of signed integers.
    pub signed: bool,
    /// Among them minima or maxima of unsigned integers.
    pub unsigned: bool,
    /// Among them others.
    pub others: bool,
    /// Something wants the old values that they find, or compares them.
    pub old_values: bool,
}

impl AtomicUsage {
    /// Notes an operation; `wanted`: something wants the old value.
    fn add(&mut self, op: AtomicOp, wanted: bool) {
        self.any = true;
        self.old_values |= op == AtomicOp::CompareExchange || wanted;
        match op {
            AtomicOp::SMin | AtomicOp::SMax => self.signed = true,
            AtomicOp::UMin | AtomicOp::UMax => self.unsigned = true,
            _ => self.others = true,
        }
    }

    /// The kind of integers that takes fewest loops.
    pub fn kind(&self) -> ScalarKind {
        if self.signed && !self.unsigned { ScalarKind::Sint } else { ScalarKind::Uint }
    }
}

/// What is known of bindings, by which their uses differ.
pub(super) struct Known<'a> {
    /// The program's bindings.
    pub bindings: &'a [Binding],
    /// What is bound to them.
    pub target: &'a Target,
}

impl Known<'_> {
    fn is(&self, id: BindingId, what: impl FnOnce(&Binding, ResourceSpecialization) -> bool) -> bool {
        self.bindings.get(id.index()).is_some_and(|binding| what(binding, self.target.known(binding)))
    }

    /// Comparisons with the texture are made in the shader.
    fn is_color(&self, id: BindingId) -> bool {
        self.is(id, |_, known| known.color)
    }

    /// The sampler's comparison is known, so that comparisons can be made at any level.
    fn compares(&self, id: BindingId) -> bool {
        self.is(id, |_, known| known.comparison.is_some())
    }

    /// The texture cannot be filtered.
    fn is_unfilterable(&self, id: BindingId) -> bool {
        self.is(id, |binding, known| is_unfilterable(binding, &known))
    }
}

/// Uses of every binding that the functions use at all.
///
/// # Errors
/// Names a handle that is no binding.
pub(super) fn collect(
    module: &Module,
    functions: &[FunctionId],
    known: &Known<'_>,
) -> Result<BTreeMap<BindingId, Usage>> {
    let mut uses = BTreeMap::new();
    for id in functions {
        let function = module
            .functions
            .get(id.index())
            .ok_or_else(|| Error::internal(format!("function out of range: {id:?}")))?;
        let wanted = wanted_lanes(function);
        for &inst in function.blocks.iter().flat_map(|block| &block.insts) {
            if let Some(op) = function.op(inst) {
                let wanted = wanted.get(inst.index()).copied().unwrap_or(u8::MAX);
                let context = Context { function, known, ty: function.ty(inst), wanted };
                add(&mut uses, &context, op).map_err(|error| error.in_function(&function.name))?;
            }
        }
    }
    Ok(uses)
}

/// The binding behind a handle, and the index of its element.
///
/// # Errors
/// The handle is chosen among several at run time.
pub(super) fn binding_of(function: &Function, handle: Value) -> Result<(BindingId, Value)> {
    match function.op(handle) {
        Some(&Op::Handle { binding, index, .. }) => Ok((binding, index)),
        _ => Err(Error::unsupported("resource chosen among several at run time")),
    }
}

/// What the uses that an operation makes depend on.
struct Context<'a> {
    function: &'a Function,
    known: &'a Known<'a>,
    /// Type of the operation's result.
    ty: Type,
    /// Lanes of the result that something uses.
    wanted: u8,
}

/// Notes the uses that one operation makes.
fn add(uses: &mut BTreeMap<BindingId, Usage>, context: &Context<'_>, op: &Op) -> Result<()> {
    let &Context { function, known, ty, wanted } = context;
    let mut of = |handle: Value, note: &dyn Fn(&mut Usage)| -> Result<()> {
        note(uses.entry(binding_of(function, handle)?.0).or_default());
        Ok(())
    };
    match op {
        Op::LoadConstant { handle, .. } => {
            let float = ty.scalar() == Some(Scalar::F32);
            of(*handle, &|usage| {
                usage.loads = true;
                if float {
                    usage.float_constants += 1;
                } else {
                    usage.other_constants += 1;
                }
            })
        }
        Op::LoadBuffer { handle, .. } | Op::LoadTexture { handle, .. } => of(*handle, &|usage| {
            usage.loads = true;
            usage.lanes |= if ty.lanes() > 1 { wanted } else { 1 };
        }),
        Op::StoreBuffer { handle, value, .. } => {
            let halves = matches!(function.ty(*value).scalar(), Some(Scalar::I16 | Scalar::F16));
            of(*handle, &|usage| {
                usage.stores = true;
                usage.halves_stored |= halves;
                usage.lanes |= distinct_lanes(function, *value);
            })
        }
        Op::StoreTexture { handle, value, .. } => of(*handle, &|usage| {
            usage.stores = true;
            usage.lanes |= distinct_lanes(function, *value);
        }),
        Op::AtomicBuffer { op, handle, .. } | Op::AtomicTexture { op, handle, .. } => of(*handle, &|usage| {
            let wide = ty == Type::Scalar(Scalar::I64);
            let atomics = if wide { &mut usage.wide_atomics } else { &mut usage.atomics };
            atomics.add(*op, wanted != 0);
        }),
        Op::UpdateCounter { handle, .. } => of(*handle, &|usage| usage.counter = true),
        Op::Sample(sample) => {
            let texture = binding_of(function, sample.texture)?.0;
            let by_level =
                asks_for_a_level(function, sample) && known.compares(binding_of(function, sample.sampler)?.0);
            let by_hand = known.is_color(texture) || by_level;
            let compared = sample.compare.is_some() && !by_hand;
            of(sample.texture, &|usage| sampled(usage, compared, false))?;
            of(sample.sampler, &|usage| sampled(usage, compared, known.is_unfilterable(texture)))
        }
        Op::Gather(gather) => {
            let texture = binding_of(function, gather.texture)?.0;
            let compared = gather.compare.is_some() && !known.is_color(texture);
            of(gather.texture, &|usage| sampled(usage, compared, false))?;
            of(gather.sampler, &|usage| sampled(usage, compared, known.is_unfilterable(texture)))
        }
        // The level is worked out from the texture's size: the sampler is not used.
        Op::CalculateLod { texture, .. } => of(*texture, &|_| {}),
        Op::TextureSize { handle, .. } => of(*handle, &|usage| usage.size_lanes |= wanted),
        Op::RayQuery { op: RayQueryOp::Trace, operands, .. } => match operands.first() {
            Some(&structure) => of(structure, &|_| {}),
            None => Err(Error::internal("search of a ray without an acceleration structure")),
        },
        Op::BufferSize { handle } => of(*handle, &|_| {}),
        Op::SampleCount(Some(handle)) | Op::SamplePosition { handle: Some(handle), .. } => of(*handle, &|_| {}),
        _ => Ok(()),
    }
}

/// Lanes of a vector that are known to be made of another value than the first.
fn distinct_lanes(function: &Function, vector: Value) -> u8 {
    fn mask<T: PartialEq>(lanes: &[T]) -> u8 {
        (0..).zip(lanes).map(|(lane, value)| u8::from(*value != lanes[0]) << lane).sum()
    }
    match function.op(vector) {
        Some(Op::Compose(lanes)) => mask(lanes),
        Some(Op::Swizzle(_, order)) => mask(order),
        _ => function.as_constant(vector).map_or(0, mask),
    }
}

/// Lanes of a function's values that something uses.
fn wanted_lanes(function: &Function) -> Vec<u8> {
    let mut wanted = vec![0; function.values.len()];
    let mut want = |value: Value, lanes: u8| {
        if let Some(wanted) = wanted.get_mut(value.index()) {
            *wanted |= lanes;
        }
    };
    for block in &function.blocks {
        for op in block.insts.iter().filter_map(|&inst| function.op(inst)) {
            match op {
                Op::Extract(vector, lane) => want(*vector, 1 << (lane & 7)),
                Op::Swizzle(vector, order) => order.iter().for_each(|lane| want(*vector, 1 << (lane & 7))),
                _ => op.for_each_operand(|operand| want(operand, u8::MAX)),
            }
        }
        block.terminator.for_each_operand(|operand| want(operand, u8::MAX));
    }
    wanted
}

/// A texture or sampler is used to sample.
fn sampled(usage: &mut Usage, compared: bool, unfiltered: bool) {
    match (compared, unfiltered) {
        (true, _) => usage.compared = true,
        (false, true) => usage.unfiltered = true,
        (false, false) => usage.sampled = true,
    }
}
