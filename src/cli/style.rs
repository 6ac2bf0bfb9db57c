//! Colors of text for people.
//!
//! Text is written with its styles; where it goes to decides whether they stay: [`output::print`](super::output::print)
//! takes them out for files and pipes, and wherever `NO_COLOR`, `CLICOLOR_FORCE` or `--color` say so.

use std::fmt::{self, Display};

use clap::{
    ValueEnum,
    builder::styling::{AnsiColor, Style},
};

/// The beginning of a section.
pub(super) const HEADING: Style = Style::new().bold();
/// What something is called.
pub(super) const NAME: Style = AnsiColor::Cyan.on_default();
/// Where something is.
pub(super) const PLACE: Style = Style::new().dimmed();
/// What is as it should be.
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
/// What is unusual.
pub(super) const WARNING: Style = AnsiColor::Yellow.on_default();
/// What is wrong.
pub(super) const ERROR: Style = AnsiColor::Red.on_default().bold();

/// Something in a style.
pub(super) fn paint(style: Style, text: impl Display) -> impl Display {
    fmt::from_fn(move |f| write!(f, "{style}{text}{style:#}"))
}

/// The state of a digest or hash, as it is named in [`Inspection`](super::inspect::Inspection).
pub(super) fn state(name: &str) -> impl Display {
    let style = match name {
        "ok" => GOOD,
        "stale" => ERROR,
        _ => WARNING,
    };
    paint(style, name)
}

/// When to color text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On terminals, unless the environment says otherwise
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Color {
    /// Decides it for all that the process writes.
    pub fn apply(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}
