//! Number types that a target lacks.
//!
//! * Halves become `f32` values that are halves, rounded after each operation that needs it (`half`).
//! * Doubles become their bits in 64-bit integers, and operations calls of functions that work on these (`double`).
//! * 64-bit integers become pairs of words (`integer64`).
//!
//! In this order: what one step makes, the next takes on. What is too long to write out at each place is a function of
//! the `library`, added to the module once. 16-bit integers need no pass: the emitter carries them in 32 bits.
//!
//! Memory stays as it is: halves take two bytes of a buffer, doubles and 64-bit integers eight.

mod double;
mod half;
mod integer64;
mod lanes;
mod library;
mod rewrite;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use super::{check, merge_common_expressions, remove_dead_code, remove_redundant_params, simplify, simplify_blocks};
use crate::{
    Result,
    ir::{Module, Scalar, Type},
    reflection::Interface,
};

/// Number types that a target's shaders may use, beside those that all have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberTypes {
    /// [`Scalar::F16`].
    pub float16: bool,
    /// [`Scalar::F64`]. Its bits are taken apart by way of 64-bit integers: without these it counts as missing.
    pub float64: bool,
    /// [`Scalar::I64`].
    pub int64: bool,
}

impl NumberTypes {
    fn has(self, scalar: Scalar) -> bool {
        match scalar {
            Scalar::F16 => self.float16,
            Scalar::F64 => self.float64 && self.int64,
            Scalar::I64 => self.int64,
            Scalar::Bool | Scalar::I16 | Scalar::I32 | Scalar::F32 => true,
        }
    }

    /// Those of a module's number types that are missing here.
    pub fn missing(self, module: &Module) -> Vec<Scalar> {
        [Scalar::F16, Scalar::F64, Scalar::I64]
            .into_iter()
            .filter(|&scalar| !self.has(scalar) && uses(module, scalar))
            .collect()
    }
}

/// Something of a module is of a number type.
fn uses(module: &Module, scalar: Scalar) -> bool {
    let is = |ty: Type| ty.scalar() == Some(scalar);
    module.variables.iter().any(|variable| is(variable.element))
        || module.functions.iter().any(|function| {
            is(function.result)
                || function.blocks.iter().any(|block| {
                    let mut found = block.params.iter().chain(&block.insts).any(|&value| is(function.ty(value)));
                    // Constants stand in no block.
                    for &inst in &block.insts {
                        if let Some(op) = function.op(inst) {
                            op.for_each_operand(|operand| found |= is(function.ty(operand)));
                        }
                    }
                    block.terminator.for_each_operand(|operand| found |= is(function.ty(operand)));
                    found
                })
        })
}

/// Guarantees that the module uses no number type that is missing. Gives those that it used.
///
/// # Errors
/// Names what has no lowering: atomic operations on 64 bits, and functions that doubles do not have in Direct3D.
pub fn legalize(module: &mut Module, interface: &Interface, types: NumberTypes) -> Result<Vec<Scalar>> {
    let missing = types.missing(module);
    if missing.is_empty() {
        return Ok(missing);
    }
    let wide: HashSet<Scalar> =
        missing.iter().copied().filter(|scalar| matches!(scalar, Scalar::I64 | Scalar::F64)).collect();
    lanes::expand(module, &wide);
    check(module, interface, "expansion of wave operations")?;
    let mut library = library::Library::default();
    if missing.contains(&Scalar::F16) {
        half::lower(module, &mut library)?;
        check(module, interface, "lowering of halves")?;
    }
    if !types.has(Scalar::F64) && uses(module, Scalar::F64) {
        double::lower(module, &mut library)?;
        check(module, interface, "lowering of doubles")?;
    }
    if !types.int64 && uses(module, Scalar::I64) {
        integer64::lower(module, &mut library)?;
        check(module, interface, "lowering of 64-bit integers")?;
    }
    // What was taken apart is put together again by the next operation: little of that need stay.
    for _ in 0..2 {
        for function in &mut module.functions {
            remove_redundant_params(function);
            simplify(function);
            merge_common_expressions(function, interface);
        }
        remove_dead_code(module);
        module.functions.iter_mut().for_each(simplify_blocks);
    }
    check(module, interface, "lowering of number types")?;
    Ok(missing)
}
