//! The Bevy plugin.

pub mod constants;
