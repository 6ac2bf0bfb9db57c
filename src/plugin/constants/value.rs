//! Values of constants, as material files write them.

use std::{collections::BTreeMap, fmt};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, MapAccess, SeqAccess, Visitor},
};

use super::EngineValue;

/// A number: integers keep all their bits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Number {
    /// An integer of up to 64 bits, signed or not.
    Integer(i128),
    /// Any other.
    Float(f64),
}

/// Value of a constant. In RON:
///
/// | value | is |
/// |---|---|
/// | `1.5`, `-3`, `0xff`, `true` | a scalar |
/// | `[1, 0.5, 0.2]`, `(1, 0.5, 0.2)` | a vector; a matrix as a list of its rows, or of all its numbers row by row; an array |
/// | `{"color": [1, 1, 1], "range": 3.0}` | a structure, by the names of its members |
/// | `"WorldViewProjection"` | what the engine supplies: see [`EngineValue`] |
#[derive(Clone, Debug, PartialEq)]
pub enum ConstantValue {
    /// A number.
    Number(Number),
    /// A truth value: 1 or 0 in a number's place.
    Bool(bool),
    /// A vector, a matrix by rows, or an array.
    List(Vec<ConstantValue>),
    /// Members of a structure by name. Those left out are 0.
    Struct(BTreeMap<String, ConstantValue>),
    /// Supplied by the engine as it draws.
    Engine(EngineValue),
}

impl From<f32> for ConstantValue {
    fn from(value: f32) -> Self {
        Self::Number(Number::Float(value.into()))
    }
}

impl From<i32> for ConstantValue {
    fn from(value: i32) -> Self {
        Self::Number(Number::Integer(value.into()))
    }
}

impl From<u32> for ConstantValue {
    fn from(value: u32) -> Self {
        Self::Number(Number::Integer(value.into()))
    }
}

impl From<bool> for ConstantValue {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<EngineValue> for ConstantValue {
    fn from(value: EngineValue) -> Self {
        Self::Engine(value)
    }
}

impl<const N: usize> From<[f32; N]> for ConstantValue {
    fn from(values: [f32; N]) -> Self {
        Self::List(values.into_iter().map(Self::from).collect())
    }
}

impl From<Vec<ConstantValue>> for ConstantValue {
    fn from(values: Vec<ConstantValue>) -> Self {
        Self::List(values)
    }
}

impl Serialize for ConstantValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => number.serialize(serializer),
            Self::Bool(value) => value.serialize(serializer),
            Self::List(values) => values.serialize(serializer),
            Self::Struct(members) => members.serialize(serializer),
            Self::Engine(value) => value.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ConstantValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ValueVisitor;

        impl<'de> Visitor<'de> for ValueVisitor {
            type Value = ConstantValue;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a number, true or false, a list, a map of members, or the name of an engine value in quotes",
                )
            }

            fn visit_bool<E: de::Error>(self, value: bool) -> Result<ConstantValue, E> {
                Ok(ConstantValue::Bool(value))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<ConstantValue, E> {
                Ok(ConstantValue::Number(Number::Integer(value.into())))
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<ConstantValue, E> {
                Ok(ConstantValue::Number(Number::Integer(value.into())))
            }

            // RON reads a decimal as the narrowest float that holds it: go by its shortest decimal, not by its bits.
            fn visit_f32<E: de::Error>(self, value: f32) -> Result<ConstantValue, E> {
                Ok(ConstantValue::Number(Number::Float(value.to_string().parse().unwrap_or(value.into()))))
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<ConstantValue, E> {
                Ok(ConstantValue::Number(Number::Float(value)))
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<ConstantValue, E> {
                name.parse().map(ConstantValue::Engine).map_err(E::custom)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<ConstantValue, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = list.next_element()? {
                    values.push(value);
                }
                Ok(ConstantValue::List(values))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ConstantValue, A::Error> {
                let mut members = BTreeMap::new();
                while let Some((name, value)) = map.next_entry::<String, ConstantValue>()? {
                    if members.contains_key(&name) {
                        return Err(de::Error::custom(format_args!("member `{name}` is given twice")));
                    }
                    members.insert(name, value);
                }
                Ok(ConstantValue::Struct(members))
            }
        }

        deserializer.deserialize_any(ValueVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> ConstantValue {
        ron::from_str(text).unwrap()
    }

    #[test]
    fn reads_every_form() {
        assert_eq!(read("1.5"), 1.5.into());
        assert_eq!(read("-3"), (-3).into());
        assert_eq!(read("0xffffffff"), u32::MAX.into());
        assert_eq!(read("true"), true.into());
        assert_eq!(read("[1.0, 0.5]"), [1.0, 0.5].into());
        assert_eq!(read("(1.0, 0.5)"), [1.0, 0.5].into());
        let ConstantValue::Struct(members) = read(r#"{"range": 3, "color": [1, 1, 1]}"#) else { panic!("a structure") };
        assert_eq!(members["range"], 3.into());
        assert_eq!(read("\"World\""), ConstantValue::Engine("World".parse().unwrap()));
        let ConstantValue::Number(Number::Float(nan)) = read("NaN") else { panic!("a float") };
        assert!(nan.is_nan());
    }

    #[test]
    fn names_what_it_cannot_read() {
        let error = ron::from_str::<ConstantValue>("\"Wrld\"").unwrap_err().to_string();
        assert!(error.contains("Wrld") && error.contains("World"), "{error}");
        let error = ron::from_str::<ConstantValue>(r#"{"a": 1, "a": 2}"#).unwrap_err().to_string();
        assert!(error.contains("`a` is given twice"), "{error}");
    }
}
