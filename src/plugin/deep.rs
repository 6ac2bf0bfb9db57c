//! Work on shaders that nest deeply.
//!
//! naga's validator and its writers recurse over the statements of a function, and take up to 64 KiB of stack for each level in
//! builds without optimization. Programs nest as deep as 128 levels; the threads of Bevy's task pools have 2 MiB. So all that
//! goes over a program runs on a thread of its own.

#[cfg(not(target_family = "wasm"))]
use std::cell::Cell;
use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// Stack of such a thread, in bytes. Systems reserve it, and give memory to what is used of it.
#[cfg(not(target_family = "wasm"))]
const STACK: usize = 64 << 20;

#[cfg(not(target_family = "wasm"))]
thread_local! {
    /// This thread has such a stack.
    static IS_DEEP: Cell<bool> = const { Cell::new(false) };
}

/// Does something with a stack for programs of any depth, and waits for it. It may wait for more of its kind: that runs on the
/// same thread.
///
/// # Errors
/// The text of a panic, or why there is no thread to be had.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn with_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, String> {
    let caught = || catch_unwind(AssertUnwindSafe(work)).map_err(|panic| panic_text(&*panic));
    if IS_DEEP.get() {
        return caught();
    }
    let thread = std::thread::Builder::new().name("dxshader".to_owned()).stack_size(STACK);
    std::thread::scope(|scope| {
        let spawned = thread.spawn_scoped(scope, || {
            IS_DEEP.set(true);
            caught()
        });
        let handle = spawned.map_err(|error| format!("no thread for the shader: {error}"))?;
        handle.join().unwrap_or_else(|panic| Err(panic_text(&*panic)))
    })
}

/// As on other systems, but on this thread: the web has one, with a stack that the app is linked with.
///
/// # Errors
/// The text of a panic.
#[cfg(target_family = "wasm")]
pub(crate) fn with_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| panic_text(&*panic))
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unknown panic").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes at least 16 KiB for each level.
    fn recurse(levels: usize) -> usize {
        let frame = std::hint::black_box([levels as u8; 16 << 10]);
        let inner = if levels == 0 { 0 } else { recurse(levels - 1) };
        inner + usize::from(frame[levels] == levels as u8)
    }

    #[test]
    fn deep_recursion_has_room() {
        // 16 MiB at least: eight times what the threads of tests have.
        assert_eq!(with_deep_stack(|| recurse(1024)), Ok(1025));
    }

    #[test]
    fn inner_work_stays_on_the_thread() {
        let id = || std::thread::current().id();
        let (outer, inner) = with_deep_stack(|| (id(), with_deep_stack(id).unwrap())).unwrap();
        assert_eq!(outer, inner);
        assert_ne!(outer, id());
    }

    #[test]
    fn panics_are_errors() {
        assert_eq!(with_deep_stack(|| panic!("number {}", 7)), Err::<(), _>("number 7".to_owned()));
        let nested = with_deep_stack(|| with_deep_stack(|| panic!("inside")));
        assert_eq!(nested, Ok(Err::<(), _>("inside".to_owned())));
    }
}
