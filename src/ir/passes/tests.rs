//! What tests of passes share.

use crate::ir::{Function, Module, text};

/// Applies a pass to a module in the text form, and compares.
#[track_caller]
pub(super) fn check<R>(pass: impl FnOnce(&mut Module) -> R, before: &str, after: &str) {
    let mut module = text::parse(before).unwrap();
    pass(&mut module);
    let found = module.to_string();
    assert!(found == after, "found:\n{found}\nexpected:\n{after}");
}

/// Applies a pass to the only function of a module.
#[track_caller]
pub(super) fn check_function<R>(pass: impl FnOnce(&mut Function) -> R, before: &str, after: &str) {
    check(|module| pass(&mut module.functions[0]), before, after);
}
