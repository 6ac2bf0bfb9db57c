//! The ray tracing stages of libraries.
//!
//! Few portable APIs have ray tracing pipelines: where a target has none, or naga cannot say what a stage does
//! (`lift/emit/ray_stage.rs`), the stages become plain functions, and whoever emulates the pipeline calls them. What passes
//! between the two are variables of 32-bit words ([`VariableSpace::Interface`]), by these names:
//!
//! * Values of the pipeline: `dispatch_rays_index`, `world_ray_origin` and so on, floats by their bits, matrices of three
//!   rows and four columns row by row. They are filled in before a stage is called.
//! * Payloads and attributes: `<entry>_payload`, `<entry>_attributes`, `<entry>_parameter`. A scalar takes a word, one of
//!   64 bits two.
//! * Operations that run other shaders copy their operands and payload to variables, call a function without contents of
//!   the operation's name, and copy the payload back: whoever emulates the pipeline gives the function its contents.
//!   - `trace_ray`, with `trace_ray_operands` (see [`trace_ray`]) and `trace_ray_payload`;
//!   - `report_hit`, with `report_hit_operands` (T, kind), `report_hit_attributes`, and `report_hit_accepted` as result;
//!   - `call_shader`, with `call_shader_operands` (the shader's index) and `call_shader_parameter`.
//!   - those of hit objects: see [`hit_object`](super::hit_object).
//! * `hit_decision`: what an any-hit shader makes of the hit, see [`HitDecision`].
//!
//! [`VariableSpace::Interface`]: crate::ir::VariableSpace::Interface

use smallvec::SmallVec;

use super::Call;
use crate::{
    Error, Result,
    dxil::lower::{FunctionLowering, Handle, Lowered, Pointer},
    ir::{CompareOp, Op, Scalar, Type, Value},
    reflection::Stage,
};

type Lowering<'m, 'a> = FunctionLowering<'m, 'a>;

/// What an any-hit shader makes of the hit: the word in `hit_decision`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HitDecision {
    /// It counts.
    Accept = 0,
    /// It does not (`IgnoreHit`).
    Ignore = 1,
    /// It counts, and no other is looked for (`AcceptHitAndEndSearch`).
    AcceptAndEndSearch = 2,
}

/// How a value of the pipeline is kept.
struct StageValue {
    /// Name of its variable.
    name: &'static str,
    /// Rows, chosen by an argument if there are several.
    rows: u32,
    /// Columns, chosen by an argument if there are several.
    columns: u32,
}

/// The value that an operation reads.
fn value_of(number: u32) -> Option<StageValue> {
    let (name, rows, columns) = match number {
        141 => ("instance_id", 1, 1),
        142 => ("instance_index", 1, 1),
        143 => ("hit_kind", 1, 1),
        144 => ("ray_flags", 1, 1),
        145 => ("dispatch_rays_index", 1, 3),
        146 => ("dispatch_rays_dimensions", 1, 3),
        147 => ("world_ray_origin", 1, 3),
        148 => ("world_ray_direction", 1, 3),
        149 => ("object_ray_origin", 1, 3),
        150 => ("object_ray_direction", 1, 3),
        151 => ("object_to_world", 3, 4),
        152 => ("world_to_object", 3, 4),
        153 => ("ray_t_min", 1, 1),
        154 => ("ray_t_current", 1, 1),
        161 => ("primitive_index", 1, 1),
        213 => ("geometry_index", 1, 1),
        _ => return None,
    };
    Some(StageValue { name, rows, columns })
}

impl FunctionLowering<'_, '_> {
    /// Writes a word of a variable that is shared with whoever runs the stage.
    pub(super) fn store_word(&mut self, name: &'static str, len: u32, index: u32, value: Value) {
        let variable = self.parent.interface_variable(name, len);
        let mut build = self.build();
        let index = build.i32(index);
        let value = build.bitcast(value, Scalar::I32);
        build.effect(Op::StoreVariable { variable, index, component: None, value });
    }

    /// Writes what becomes of the hit.
    pub fn decide_hit(&mut self, decision: HitDecision) {
        let word = self.function.i32(decision as u32);
        self.store_word("hit_decision", 1, 0, word);
    }

    /// An argument that is an address.
    pub(super) fn pointer_argument(&mut self, call: &Call<'_>, index: usize) -> Result<Pointer> {
        match self.value(call.argument(index)?)? {
            Lowered::Pointer(pointer) => Ok(pointer),
            _ => Err(Error::malformed(format!("argument is no address: {index}"))),
        }
    }

    /// Calls the function that whoever runs the stage gives its contents.
    pub(super) fn call_back(&mut self, name: &'static str) {
        let function = self.parent.callback(name);
        self.parent
            .note(&format!("{name}: a function without contents, for whoever emulates the ray tracing pipeline"));
        self.build().effect(Op::Call(function, SmallVec::new()));
    }

    /// Register and space of the resource that a handle stands for.
    fn register_of(&mut self, handle: Handle) -> Result<[Value; 2]> {
        let place = |this: &mut Self, handle: Value| {
            let Some(&Op::Handle { binding, index, .. }) = this.function.op(handle) else {
                return Err(Error::internal("handle that is made by no handle operation"));
            };
            let binding = &this.parent.interface.bindings[binding.index()];
            let (register, space) = (this.function.i32(binding.register), this.function.i32(binding.space));
            Ok([this.add(index, register), space])
        };
        let (which, choices) = match self.function.op(handle.value) {
            Some(Op::ChooseHandle { which, choices }) => (*which, choices.clone()),
            _ => return place(self, handle.value),
        };
        let mut chosen: Option<[Value; 2]> = None;
        for (number, handle) in choices {
            let here = place(self, handle)?;
            let mut build = self.build();
            let number = build.i32(number);
            let is_here = build.compare(CompareOp::IEq, which, number);
            chosen = Some(match chosen {
                Some([register, space]) => {
                    [build.select(is_here, here[0], register), build.select(is_here, here[1], space)]
                }
                None => here,
            });
        }
        chosen.ok_or_else(|| Error::internal("choice among nothing"))
    }

    /// Copies the operands and the payload of a search to the host's variables, runs one of its functions, and copies the
    /// payload back.
    pub(super) fn trace(&mut self, call: &Call<'_>, callback: &'static str) -> Result<()> {
        const WORDS: u32 = 15;
        let structure = self.handle_argument(call, 0)?;
        let mut operands: SmallVec<[Value; 16]> = SmallVec::new();
        operands.extend(self.register_of(structure)?);
        for argument in 1..6 {
            operands.push(call.i32(self, argument)?);
        }
        for argument in 6..14 {
            operands.push(call.f32(self, argument)?);
        }
        let payload = self.pointer_argument(call, 14)?;
        for (index, &operand) in (0..).zip(&operands) {
            self.store_word("trace_ray_operands", WORDS, index, operand);
        }
        let shared = self.share(payload, "trace_ray_payload")?;
        self.call_back(callback);
        self.copy(shared, payload)?;
        Ok(())
    }

    /// Ends an any-hit shader.
    fn end_hit(&mut self, decision: HitDecision) -> Result<Option<Lowered>> {
        if self.entry()?.stage != Stage::AnyHit {
            return Err(Error::malformed("decision on a hit outside of any-hit shaders"));
        }
        self.decide_hit(decision);
        self.end_here();
        Ok(None)
    }
}

/// A value of the pipeline: one number, or the one that row and column choose.
pub fn stage_value(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let value = value_of(call.number).ok_or_else(|| Error::internal("no value of the pipeline"))?;
    let scalar = call.result_scalar(f)?;
    if scalar.bits() != 32 {
        return Err(Error::malformed(format!("value of the pipeline as another type: {scalar}")));
    }
    let mut index = f.function.i32(0);
    let sizes = [value.rows, value.columns].into_iter().filter(|&size| size > 1);
    for (argument, size) in sizes.enumerate() {
        let step = call.number(f, argument)?;
        // Components are bytes, rows are words: both are `i32`s here.
        if f.function.ty(step) != Type::I32 {
            return Err(Error::malformed(format!("argument is no integer: {argument}")));
        }
        if f.function.as_scalar_constant(step).is_some_and(|step| step >= u64::from(size)) {
            return Err(Error::malformed("no such component"));
        }
        index = f.scale(index, size);
        index = f.add(index, step);
    }
    let variable = f.parent.interface_variable(value.name, value.rows * value.columns);
    let mut build = f.build();
    let word = build.push(Op::LoadVariable { variable, index, component: None }, Type::I32);
    Ok(Some(Lowered::scalar(build.bitcast(word, scalar))))
}

/// Nothing: the hit does not count, and the shader ends.
pub fn ignore_hit(f: &mut Lowering<'_, '_>, _call: &Call<'_>) -> Result<Option<Lowered>> {
    f.end_hit(HitDecision::Ignore)
}

/// Nothing: the hit is the last, and the shader ends.
pub fn accept_hit_and_end_search(f: &mut Lowering<'_, '_>, _call: &Call<'_>) -> Result<Option<Lowered>> {
    f.end_hit(HitDecision::AcceptAndEndSearch)
}

/// Acceleration structure; flags, instance mask, offset and multiplier of the hit group, index of the miss shader;
/// origin, smallest T, direction, largest T; payload.
///
/// `trace_ray_operands` holds the acceleration structure's register and space, and then these operands in order.
pub fn trace_ray(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    f.trace(call, "trace_ray")?;
    Ok(None)
}

/// T, kind, attributes: whether the hit counts.
pub fn report_hit(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let (t, kind) = (call.f32(f, 0)?, call.i32(f, 1)?);
    let attributes = f.pointer_argument(call, 2)?;
    f.store_word("report_hit_operands", 2, 0, t);
    f.store_word("report_hit_operands", 2, 1, kind);
    f.share(attributes, "report_hit_attributes")?;
    f.call_back("report_hit");
    f.parent.note("ReportHit: the intersection shader goes on where an accepted hit ends the search");
    let variable = f.parent.interface_variable("report_hit_accepted", 1);
    let mut build = f.build();
    let zero = build.i32(0);
    let accepted = build.push(Op::LoadVariable { variable, index: zero, component: None }, Type::I32);
    Ok(Some(Lowered::scalar(build.compare(CompareOp::INe, accepted, zero))))
}

/// Index of the shader, parameter.
pub fn call_shader(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let index = call.i32(f, 0)?;
    let parameter = f.pointer_argument(call, 1)?;
    f.store_word("call_shader_operands", 1, 0, index);
    let shared = f.share(parameter, "call_shader_parameter")?;
    f.call_back("call_shader");
    f.copy(shared, parameter)?;
    Ok(None)
}
