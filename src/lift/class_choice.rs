//! What fills an interface of a program.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{Error, reflection::InstanceData};

/// What fills an interface: a class instance that the HLSL declares, or one that the host makes.
///
/// As text, in files and on the command line:
///
/// * `sun` or `lamps[2]`: the instance of that name (`ID3D11ClassLinkage::GetClassInstance`);
/// * `DirectionalLight`: the first instance of the class, or one without data if the HLSL declares none;
/// * `DirectionalLight(cb1[4], t2, s0)`: an instance whose data begins at row 4 of constant buffer 1, whose textures begin at
///   `t2` and samplers at `s0` (`ID3D11ClassLinkage::CreateClassInstance`). What is left out is 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ClassChoice {
    /// By name.
    Named {
        /// Name of an instance; else of a class.
        name: String,
        /// Element, of an instance that is an array.
        index: u32,
    },
    /// With data of the host's.
    Created {
        /// Name of the class.
        class: String,
        /// Where its data is.
        data: InstanceData,
    },
}

impl FromStr for ClassChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let error =
            || Error::malformed(format!("not a class instance, such as sun, lamps[2] or Light(cb1[4]): {text}"));
        let text = text.trim();
        if let Some(inner) = text.strip_suffix(')') {
            let (class, registers) = inner.split_once('(').ok_or_else(error)?;
            let mut data = InstanceData::default();
            for register in registers.split(',').map(str::trim).filter(|register| !register.is_empty()) {
                if let Some(place) = register.strip_prefix("cb") {
                    let (buffer, row) = indexed(place).ok_or_else(error)?;
                    data.constant_buffer = buffer.parse().map_err(|_| error())?;
                    data.row = row.unwrap_or(0);
                } else if let Some(number) = register.strip_prefix('t') {
                    data.texture = number.parse().map_err(|_| error())?;
                } else if let Some(number) = register.strip_prefix('s') {
                    data.sampler = number.parse().map_err(|_| error())?;
                } else {
                    return Err(error());
                }
            }
            let class = name(class).ok_or_else(error)?;
            return Ok(Self::Created { class, data });
        }
        let (text, index) = indexed(text).ok_or_else(error)?;
        Ok(Self::Named { name: name(text).ok_or_else(error)?, index: index.unwrap_or(0) })
    }
}

/// `name[index]` or `name`.
fn indexed(text: &str) -> Option<(&str, Option<u32>)> {
    match text.strip_suffix(']') {
        Some(inner) => {
            let (name, index) = inner.rsplit_once('[')?;
            Some((name.trim(), Some(index.trim().parse().ok()?)))
        }
        None => Some((text, None)),
    }
}

/// A name without the characters that mean something here.
fn name(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty() && !text.contains(['(', ')', '[', ']', ','])).then(|| text.to_owned())
}

impl fmt::Display for ClassChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named { name, index: 0 } => f.write_str(name),
            Self::Named { name, index } => write!(f, "{name}[{index}]"),
            Self::Created { class, data: InstanceData { constant_buffer, row, texture, sampler } } => {
                write!(f, "{class}(cb{constant_buffer}[{row}], t{texture}, s{sampler})")
            }
        }
    }
}

impl TryFrom<String> for ClassChoice {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<ClassChoice> for String {
    fn from(choice: ClassChoice) -> Self {
        choice.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        let data = InstanceData { constant_buffer: 1, row: 4, texture: 2, sampler: 0 };
        for (text, choice) in [
            ("sun", ClassChoice::Named { name: "sun".into(), index: 0 }),
            ("lamps[2]", ClassChoice::Named { name: "lamps".into(), index: 2 }),
            ("Light(cb1[4], t2, s0)", ClassChoice::Created { class: "Light".into(), data }),
        ] {
            assert_eq!(text.parse(), Ok(choice.clone()));
            assert_eq!(choice.to_string(), text);
        }
        let no_data = ClassChoice::Created { class: "Light".into(), data: InstanceData::default() };
        assert_eq!("Light()".parse(), Ok(no_data));
        for text in ["", "a[", "a[x]", "a]", "a(b", "(cb1)", "a(cb)", "a(cb1[)", "a(u1)", "a(t-1)", "a(b)(t1)", "[1]"] {
            assert!(text.parse::<ClassChoice>().is_err(), "{text}");
        }
    }
}
