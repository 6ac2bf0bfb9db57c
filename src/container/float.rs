//! Floats that are serialized whole: JSON has no infinities and no NaN, so these are words.

use std::fmt;

use serde::{
    Deserializer, Serializer,
    de::{self, Visitor},
};

/// A float as a number, or as `inf`, `-inf`, `NaN`: for `#[serde(with)]`.
pub fn serialize<S: Serializer>(value: &f32, serializer: S) -> Result<S::Ok, S::Error> {
    if value.is_finite() { serializer.serialize_f32(*value) } else { serializer.collect_str(value) }
}

/// Reads what [`serialize`] wrote.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f32, D::Error> {
    deserializer.deserialize_any(Float)
}

struct Float;

impl Visitor<'_> for Float {
    type Value = f32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, or inf, -inf, NaN")
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<f32, E> {
        Ok(value as f32)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<f32, E> {
        Ok(value as f32)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<f32, E> {
        Ok(value as f32)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<f32, E> {
        text.parse().map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))
    }
}

/// The same for a float that may be missing.
pub mod option {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Wrapped(#[serde(with = "super")] f32);

    /// The float, if there is one.
    pub fn serialize<S: Serializer>(value: &Option<f32>, serializer: S) -> Result<S::Ok, S::Error> {
        value.map(Wrapped).serialize(serializer)
    }

    /// Reads what [`serialize`] wrote.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f32>, D::Error> {
        Ok(Option::<Wrapped>::deserialize(deserializer)?.map(|wrapped| wrapped.0))
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    #[derive(Debug, Serialize, Deserialize)]
    struct Floats {
        #[serde(with = "super")]
        one: f32,
        #[serde(with = "super::option")]
        maybe: Option<f32>,
    }

    #[test]
    fn every_float_is_read_again() {
        let values = [0.0, -0.0, 1.0, 0.1, f32::MAX, f32::MIN_POSITIVE, 1e-45, f32::INFINITY, f32::NEG_INFINITY];
        for value in values {
            for maybe in [None, Some(value)] {
                let floats = Floats { one: value, maybe };
                let bits = |floats: Floats| (floats.one.to_bits(), floats.maybe.map(f32::to_bits));
                let json = serde_json::to_string(&floats).unwrap();
                assert_eq!(
                    bits(serde_json::from_str(&json).unwrap()),
                    (value.to_bits(), maybe.map(f32::to_bits)),
                    "{json}"
                );
                let ron = ron::to_string(&floats).unwrap();
                assert_eq!(bits(ron::from_str(&ron).unwrap()), (value.to_bits(), maybe.map(f32::to_bits)), "{ron}");
            }
        }
        let json = serde_json::to_string(&Floats { one: f32::NAN, maybe: None }).unwrap();
        assert!(serde_json::from_str::<Floats>(&json).unwrap().one.is_nan());
    }
}
