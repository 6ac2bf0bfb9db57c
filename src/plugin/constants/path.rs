//! Paths to fields: `lights[2].color`, `PerFrame.time`.

use std::fmt;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathStep {
    /// A constant buffer, a field or a member, by name.
    Name(String),
    /// An element of an array, or a row of a buffer without names.
    Index(u32),
}

/// A path to a field: names separated by dots, each followed by any number of indices in brackets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldPath(pub Vec<PathStep>);

/// What does not read as a path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` is no path to a constant: {reason}")]
pub struct PathError {
    path: String,
    reason: &'static str,
}

impl std::str::FromStr for FieldPath {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        let error = |reason| PathError { path: text.to_owned(), reason };
        let mut steps = Vec::new();
        for part in text.split('.') {
            let (name, mut indices) = part.split_at(part.find('[').unwrap_or(part.len()));
            if name.is_empty() {
                return Err(error("a name is missing"));
            }
            steps.push(PathStep::Name(name.to_owned()));
            while !indices.is_empty() {
                let inside = indices.strip_prefix('[').ok_or_else(|| error("expected `[` or `.` after `]`"))?;
                let (number, rest) = inside.split_once(']').ok_or_else(|| error("a `]` is missing"))?;
                let number = number.trim().parse().map_err(|_| error("an index must be a number"))?;
                steps.push(PathStep::Index(number));
                indices = rest;
            }
        }
        Ok(Self(steps))
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                PathStep::Name(name) if position == 0 => f.write_str(name)?,
                PathStep::Name(name) => write!(f, ".{name}")?,
                PathStep::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_read_back() {
        for text in ["a", "a.b", "lights[2].color", "PerFrame.m[1][0].x"] {
            assert_eq!(text.parse::<FieldPath>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn faults_are_named() {
        for (text, reason) in [
            ("", "a name is missing"),
            ("a.", "a name is missing"),
            ("[0]", "a name is missing"),
            ("a[", "a `]` is missing"),
            ("a[x]", "an index must be a number"),
            ("a[0]b", "expected `[` or `.` after `]`"),
        ] {
            assert_eq!(text.parse::<FieldPath>(), Err(PathError { path: text.into(), reason }), "{text}");
        }
    }
}
