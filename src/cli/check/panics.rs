//! Panics as values: caught, and told in one line.

use std::{
    cell::RefCell,
    panic::{self, AssertUnwindSafe, PanicHookInfo},
    sync::{Mutex, PoisonError},
};

thread_local! {
    /// Place of this thread's last panic.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

type Hook = Box<dyn Fn(&PanicHookInfo<'_>) + Sync + Send + 'static>;

/// Number of [`Quiet`]s that live, and the hook that was there before the first.
static BEFORE: Mutex<(usize, Option<Hook>)> = Mutex::new((0, None));

/// While it lives, panics print nothing and leave their place for [`catch`].
pub(super) struct Quiet(());

impl Quiet {
    pub fn new() -> Self {
        let mut before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
        if before.0 == 0 {
            before.1 = Some(panic::take_hook());
            panic::set_hook(Box::new(|info| {
                let place = info.location().map(|location| format!("{}:{}", location.file(), location.line()));
                PLACE.with_borrow_mut(|last| *last = place);
            }));
        }
        before.0 += 1;
        Self(())
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        let mut before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
        before.0 -= 1;
        // The hook cannot be changed by a thread that is panicking.
        if before.0 == 0
            && !std::thread::panicking()
            && let Some(hook) = before.1.take()
        {
            panic::set_hook(hook);
        }
    }
}

/// Runs something, and gives the message and place of a panic.
pub(super) fn catch<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    panic::catch_unwind(AssertUnwindSafe(run)).map_err(|payload| {
        let message = payload.downcast_ref::<String>().map(String::as_str);
        let message = message.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
        match PLACE.take() {
            Some(place) => format!("{message} ({place})"),
            None => message.to_owned(),
        }
    })
}
