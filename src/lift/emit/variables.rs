//! Variables of the program: indexable temporaries, group-shared memory, constant arrays.

use naga::{GlobalVariable, Handle};

/// Where a variable of the program is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Storage {
    /// A global variable.
    Global(Handle<GlobalVariable>),
}
