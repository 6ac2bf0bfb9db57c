//! Transformations of modules. Each pass is one file, says what it guarantees, and leaves a module that verifies.

mod blocks;
mod choices;
mod cse;
mod dce;
mod fold;
pub mod legalize;
mod params;
mod promote;
mod reducible;
mod replace;
mod retype;
mod simplify;
#[cfg(test)]
mod tests;
mod vectorize;

pub use blocks::simplify_blocks;
pub use choices::resolve_choices;
pub use cse::merge_common_expressions;
pub use dce::remove_dead_code;
pub use params::remove_redundant_params;
pub use promote::promote_variables;
pub use reducible::{flatten, make_reducible};
pub use retype::retype;
pub use simplify::simplify;
pub use vectorize::vectorize_params;

use std::cell::Cell;

use super::{Function, Module, verify};
use crate::{Result, reflection::Interface};

/// Blocks that a vector is followed through, against the flow, to where it was made.
const VECTORIZE_ROUNDS: usize = 6;

/// Brings a module as front ends make it into the form that the emitter takes: everything is used, nothing is said
/// twice, thread variables are values where they can be, and the graphs are reducible.
///
/// # Errors
/// [`ErrorKind::Internal`](crate::ErrorKind::Internal) in debug builds, if the front end or a pass leaves a module that
/// does not verify.
pub fn optimize(module: &mut Module, interface: &Interface) -> Result<()> {
    check(module, interface, "the front end")?;
    let cse = each(|function| merge_common_expressions(function, interface));
    let run = |module: &mut Module, name: &str, pass: &dyn Fn(&mut Module)| {
        pass(module);
        check(module, interface, name)
    };
    run(module, "blocks", &each(simplify_blocks))?;
    run(module, "promote", &promote_variables)?;
    if choices::has_choices(module) {
        // What a resource is chosen by is known best where it has become a value.
        run(module, "params", &each(remove_redundant_params))?;
        run(module, "simplify", &each(simplify))?;
        resolve_choices(module)?;
        check(module, interface, "choices")?;
    }
    for _ in 0..2 {
        run(module, "params", &each(remove_redundant_params))?;
        run(module, "simplify", &each(simplify))?;
        run(module, "cse", &cse)?;
        run(module, "dce", &remove_dead_code)?;
        run(module, "blocks", &each(simplify_blocks))?;
    }
    run(module, "retype", &|module| retype(module, interface))?;
    run(module, "simplify", &each(simplify))?;
    for _ in 0..VECTORIZE_ROUNDS {
        let changed = Cell::new(false);
        run(module, "vectorize", &each(|function| changed.set(vectorize_params(function) | changed.get())))?;
        if !changed.get() {
            break;
        }
        run(module, "simplify", &each(simplify))?;
    }
    run(module, "cse", &cse)?;
    run(module, "dce", &remove_dead_code)?;
    run(module, "reducible", &each(make_reducible))?;
    run(module, "params", &each(remove_redundant_params))
}

/// A pass over functions as one over modules.
fn each<R>(pass: impl Fn(&mut Function) -> R) -> impl Fn(&mut Module) {
    move |module| {
        for function in &mut module.functions {
            pass(function);
        }
    }
}

/// Verifies what a pass left, in debug builds.
fn check(module: &Module, interface: &Interface, pass: &str) -> Result<()> {
    if cfg!(debug_assertions) {
        verify(module, interface).map_err(|mut error| {
            error.what = format!("left by {pass}: {}", error.what);
            error
        })?;
    }
    Ok(())
}
