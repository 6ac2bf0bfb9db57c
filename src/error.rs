//! The one error of the lifter: what went wrong, where, and with which construct.

use std::fmt;

use crate::container::FourCc;

/// Result of everything between the bytes of a container and a naga module.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What kind of fault an [`Error`] reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes do not begin with a DirectX container.
    NotAContainer,
    /// The container is well formed but holds no program (a root signature, signatures alone, an effect).
    NotAProgram,
    /// The bytes contradict the format.
    Malformed,
    /// The bytes are right, but the lift has no lowering for the construct (yet, or on this target).
    Unsupported,
    /// Two programs, or a program and its target, do not fit together.
    Mismatch,
    /// The lift produced something that its own verifier or naga's rejects: a bug of this crate.
    Internal,
}

/// Where in a container an [`Error`] arose. Every field that is known is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The part of the container.
    pub part: Option<FourCc>,
    /// Byte offset: from the beginning of `part` if that is set, else from the beginning of the container.
    pub offset: Option<usize>,
    /// Number of the instruction within its function, counted from 0 in file order.
    pub instruction: Option<u32>,
    /// Name of the function.
    pub function: Option<String>,
}

/// An error of reading, reflecting or lifting. It does not know the file's name: whoever opened the file adds that.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}", Prefix(kind, place), what)]
pub struct Error {
    /// What kind of fault.
    pub kind: ErrorKind,
    /// Where.
    pub place: Place,
    /// The construct and what is wrong with it, as one sentence without a final stop. Numbers that differ from file to
    /// file belong at its end, after a colon, so that [`Error::reason`] can group faults.
    pub what: String,
}

impl Error {
    /// An error of `kind` without a place.
    pub fn new(kind: ErrorKind, what: impl Into<String>) -> Self {
        Self { kind, place: Place::default(), what: what.into() }
    }

    /// The bytes contradict the format.
    pub fn malformed(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Malformed, what)
    }

    /// No lowering for the construct.
    pub fn unsupported(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, what)
    }

    /// A bug of this crate.
    pub fn internal(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, what)
    }

    /// Names the part, unless one is named already.
    pub fn in_part(mut self, part: FourCc) -> Self {
        self.place.part.get_or_insert(part);
        self
    }

    /// Names the byte offset, unless one is named already.
    pub fn at_offset(mut self, offset: usize) -> Self {
        self.place.offset.get_or_insert(offset);
        self
    }

    /// Names the instruction, unless one is named already.
    pub fn at_instruction(mut self, instruction: u32) -> Self {
        self.place.instruction.get_or_insert(instruction);
        self
    }

    /// Names the function, unless one is named already.
    pub fn in_function(mut self, function: impl Into<String>) -> Self {
        self.place.function.get_or_insert_with(|| function.into());
        self
    }

    /// The fault without what differs from file to file: for counting alike refusals.
    pub fn reason(&self) -> String {
        let construct = self.what.split(':').next().unwrap_or(&self.what);
        format!("{}: {construct}", self.kind)
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ErrorKind::NotAContainer => "not a DirectX container",
            ErrorKind::NotAProgram => "no program",
            ErrorKind::Malformed => "malformed",
            ErrorKind::Unsupported => "unsupported",
            ErrorKind::Mismatch => "mismatch",
            ErrorKind::Internal => "internal error, please report it",
        })
    }
}

/// Kind and place in front of an error's sentence.
struct Prefix<'a>(&'a ErrorKind, &'a Place);

impl fmt::Display for Prefix<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(kind, place) = self;
        write!(f, "{kind}: ")?;
        let mut parts = Vec::new();
        if let Some(part) = place.part {
            parts.push(format!("part {part}"));
        }
        if let Some(offset) = place.offset {
            parts.push(format!("offset {offset:#x}"));
        }
        if let Some(function) = &place.function {
            parts.push(format!("function {function}"));
        }
        if let Some(instruction) = place.instruction {
            parts.push(format!("instruction {instruction}"));
        }
        if !parts.is_empty() {
            write!(f, "{}: ", parts.join(", "))?;
        }
        Ok(())
    }
}
