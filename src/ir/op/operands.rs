//! The operands of operations, for passes that follow and replace them.

use super::{BufferAddress, EvaluateAt, Gather, Op, Sample, SampleLevel};
use crate::ir::Value;

/// The operands of `$op`, each passed to `$f`: one list for readers (`as_ref`) and writers (`as_mut`).
macro_rules! visit_operands {
    ($op:expr, $f:expr, $deref:ident) => {{
        let op = $op;
        let mut f = $f;
        match op {
            Op::Unary(_, a) | Op::Convert(_, a) | Op::Extract(a, _) | Op::Swizzle(a, _) | Op::Derivative(_, _, a) => f(a),
            Op::Discard(a) | Op::BufferSize { handle: a } | Op::UpdateCounter { handle: a, .. } => f(a),
            Op::Binary(_, a, b) | Op::Compare(_, a, b) | Op::Dot(a, b) | Op::ExtractDynamic(a, b) => {
                f(a);
                f(b);
            }
            Op::Ternary(_, a, b, c) => {
                f(a);
                f(b);
                f(c);
            }
            Op::BitfieldInsert { width, offset, insert, base } => {
                f(width);
                f(offset);
                f(insert);
                f(base);
            }
            Op::Select { condition, accept, reject } => {
                f(condition);
                f(accept);
                f(reject);
            }
            Op::Compose(values) => {
                for value in values {
                    f(value);
                }
            }
            Op::Wave(_, values) => {
                for value in values {
                    f(value);
                }
            }
            Op::RayQuery { operands, .. } => {
                for value in operands {
                    f(value);
                }
            }
            Op::Call(_, values) => {
                for value in values {
                    f(value);
                }
            }
            Op::LoadInput { row, vertex, .. } => {
                f(row);
                if let Some(vertex) = vertex {
                    f(vertex);
                }
            }
            Op::EvaluateInput { row, at, .. } => {
                f(row);
                match at {
                    EvaluateAt::Centroid => {}
                    EvaluateAt::Sample(sample) => f(sample),
                    EvaluateAt::Snapped(x, y) => {
                        f(x);
                        f(y);
                    }
                }
            }
            Op::LoadInputAtVertex { row, .. } => f(row),
            Op::StoreOutput { row, vertex, value, .. } => {
                f(row);
                if let Some(vertex) = vertex {
                    f(vertex);
                }
                f(value);
            }
            Op::SystemValue(_)
            | Op::IsHelperLane
            | Op::Barrier(_)
            | Op::EmitVertex { .. }
            | Op::LoadRayQuery { .. } => {}
            // See `for_each_operand`.
            Op::ChooseRayQuery { which, .. } => f(which),
            Op::SetMeshOutputCounts { vertices, primitives } => {
                f(vertices);
                f(primitives);
            }
            Op::EmitIndices { primitive, indices } => {
                f(primitive);
                for index in indices {
                    f(index);
                }
            }
            Op::DispatchMesh { groups, first, .. } => {
                for count in groups {
                    f(count);
                }
                f(first);
            }
            Op::LoadVariable { index, .. } => f(index),
            Op::StoreVariable { index, value, .. } => {
                f(index);
                f(value);
            }
            Op::AtomicVariable { index, value, compare, .. } => {
                f(index);
                f(value);
                if let Some(compare) = compare {
                    f(compare);
                }
            }
            Op::Handle { index, .. } => f(index),
            Op::ChooseHandle { which, choices } => {
                f(which);
                for (_, handle) in choices {
                    f(handle);
                }
            }
            Op::LoadConstant { handle, row, .. } => {
                f(handle);
                f(row);
            }
            Op::LoadBuffer { handle, address } => {
                f(handle);
                visit_operands!(@address address, f);
            }
            Op::StoreBuffer { handle, address, value } => {
                f(handle);
                visit_operands!(@address address, f);
                f(value);
            }
            Op::AtomicBuffer { handle, address, value, compare, .. } => {
                f(handle);
                visit_operands!(@address address, f);
                f(value);
                if let Some(compare) = compare {
                    f(compare);
                }
            }
            Op::LoadTexture { handle, coordinates, level, sample, offset } => {
                f(handle);
                f(coordinates);
                for operand in [level, sample, offset] {
                    if let Some(operand) = operand {
                        f(operand);
                    }
                }
            }
            Op::StoreTexture { handle, coordinates, sample, value } => {
                f(handle);
                f(coordinates);
                if let Some(sample) = sample {
                    f(sample);
                }
                f(value);
            }
            Op::AtomicTexture { handle, coordinates, value, compare, .. } => {
                f(handle);
                f(coordinates);
                f(value);
                if let Some(compare) = compare {
                    f(compare);
                }
            }
            Op::Sample(sample) => {
                let Sample { texture, sampler, coordinates, level, compare, offset, min_lod } = sample.$deref();
                f(texture);
                f(sampler);
                f(coordinates);
                match level {
                    SampleLevel::Implicit | SampleLevel::Zero => {}
                    SampleLevel::Bias(value) | SampleLevel::Level(value) => f(value),
                    SampleLevel::Gradient(x, y) => {
                        f(x);
                        f(y);
                    }
                }
                for operand in [compare, offset, min_lod] {
                    if let Some(operand) = operand {
                        f(operand);
                    }
                }
            }
            Op::Gather(gather) => {
                let Gather { texture, sampler, coordinates, component: _, compare, offset } = gather.$deref();
                f(texture);
                f(sampler);
                f(coordinates);
                for operand in [compare, offset] {
                    if let Some(operand) = operand {
                        f(operand);
                    }
                }
            }
            Op::CalculateLod { texture, sampler, coordinates, .. } => {
                f(texture);
                f(sampler);
                f(coordinates);
            }
            Op::TextureSize { handle, level } => {
                f(handle);
                if let Some(level) = level {
                    f(level);
                }
            }
            Op::SampleCount(handle) => {
                if let Some(handle) = handle {
                    f(handle);
                }
            }
            Op::SamplePosition { handle, sample } => {
                if let Some(handle) = handle {
                    f(handle);
                }
                f(sample);
            }
        }
    }};
    (@address $address:expr, $f:expr) => {
        match $address {
            BufferAddress::Element(index) | BufferAddress::Byte(index) => $f(index),
            BufferAddress::Structured(index, offset) => {
                $f(index);
                $f(offset);
            }
        }
    };
}

impl Op {
    /// Calls `f` on each operand, in the order of the fields.
    pub fn for_each_operand(&self, mut f: impl FnMut(Value)) {
        if let Op::ChooseRayQuery { which, op, .. } = self {
            f(*which);
            return op.for_each_operand(&mut f as &mut dyn FnMut(Value));
        }
        visit_operands!(self, |value: &Value| f(*value), as_ref);
    }

    /// Calls `f` on each operand, in the order of the fields, to replace it.
    pub fn for_each_operand_mut(&mut self, mut f: impl FnMut(&mut Value)) {
        if let Op::ChooseRayQuery { which, op, .. } = self {
            f(which);
            return op.for_each_operand_mut(&mut f as &mut dyn FnMut(&mut Value));
        }
        visit_operands!(self, |value: &mut Value| f(value), as_mut);
    }
}
