//! Numbers of a case: as they are written, as bytes of a resource, and as they are shown.

use std::fmt;

use half::f16;
use serde::{
    Deserialize, Deserializer,
    de::{self, SeqAccess, Visitor},
};

/// Type of a resource's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[allow(missing_docs)]
pub enum ElementType {
    U8,
    I8,
    U16,
    I16,
    F16,
    U32,
    I32,
    F32,
    U64,
    I64,
    F64,
}

impl ElementType {
    /// Bytes of an element.
    pub fn size(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 | Self::F16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }

    /// It is a floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64)
    }

    /// It is a signed integer type.
    pub fn is_signed(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }

    /// The element that a number makes. An integer type takes whatever fits its bits, signed or not, so that
    /// hexadecimal notation serves both.
    ///
    /// # Errors
    /// The type cannot hold the number.
    pub fn element(self, number: Number) -> Result<Element, String> {
        let bits = match (self, number) {
            (Self::F16, _) => f16::from_f64(number.to_f64()).to_bits().into(),
            (Self::F32, _) => (number.to_f64() as f32).to_bits().into(),
            (Self::F64, _) => number.to_f64().to_bits(),
            (_, Number::Float(value)) => return Err(format!("{value:?} is not an integer, as {self:?} demands")),
            (_, Number::Integer(value)) => {
                let width = 8 * self.size() as u32;
                if value < -(1i128 << (width - 1)) || value >= 1i128 << width {
                    return Err(format!("{value} does not fit {self:?}"));
                }
                value as u64 & self.mask()
            }
        };
        Ok(Element { ty: self, bits })
    }

    /// The bits that an element can have.
    fn mask(self) -> u64 {
        u64::MAX >> (64 - 8 * self.size())
    }

    /// The elements that numbers make, as little-endian bytes.
    ///
    /// # Errors
    /// Names the first number that the type cannot hold.
    pub fn encode(self, numbers: &[Number]) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::with_capacity(numbers.len() * self.size());
        for (index, &number) in numbers.iter().enumerate() {
            let element = self.element(number).map_err(|error| format!("element {index}: {error}"))?;
            bytes.extend_from_slice(&element.bits.to_le_bytes()[..self.size()]);
        }
        Ok(bytes)
    }

    /// The elements that bytes hold; a rest shorter than an element is left out.
    pub fn decode(self, bytes: &[u8]) -> impl Iterator<Item = Element> {
        bytes.chunks_exact(self.size()).map(move |chunk| {
            let mut bits = [0; 8];
            bits[..chunk.len()].copy_from_slice(chunk);
            Element { ty: self, bits: u64::from_le_bytes(bits) }
        })
    }
}

/// One element of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// Its type.
    pub ty: ElementType,
    /// Its bits; zeros above the type's.
    pub bits: u64,
}

impl Element {
    /// Its value, if it is a float.
    pub fn as_float(self) -> Option<f64> {
        match self.ty {
            ElementType::F16 => Some(f16::from_bits(self.bits as u16).to_f64()),
            ElementType::F32 => Some(f32::from_bits(self.bits as u32).into()),
            ElementType::F64 => Some(f64::from_bits(self.bits)),
            _ => None,
        }
    }

    /// Its value, if it is an integer.
    pub fn as_integer(self) -> Option<i128> {
        let unused = 64 - 8 * self.ty.size() as u32;
        match self.ty {
            ty if ty.is_float() => None,
            ty if ty.is_signed() => Some((((self.bits << unused) as i64) >> unused).into()),
            _ => Some(self.bits.into()),
        }
    }

    /// It is a float that is not a number.
    pub fn is_nan(self) -> bool {
        self.as_float().is_some_and(f64::is_nan)
    }

    /// Its place among the values of its type: neighbours differ by one, and both zeros are 0.
    pub fn ordinal(self) -> i128 {
        self.as_integer().unwrap_or_else(|| {
            let sign = 1u64 << (8 * self.ty.size() - 1);
            let magnitude = i128::from(self.bits & !sign);
            if self.bits & sign == 0 { magnitude } else { -magnitude }
        })
    }

    /// Its bits in hexadecimal, with all digits of its type.
    pub fn hexadecimal(self) -> String {
        format!("{:#0width$x}", self.bits, width = 2 + 2 * self.ty.size())
    }
}

/// The value, as a case would write it.
impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ty {
            ElementType::F32 => write!(f, "{:?}", f32::from_bits(self.bits as u32)),
            _ => match (self.as_float(), self.as_integer()) {
                (Some(value), _) => write!(f, "{value:?}"),
                (None, Some(value)) => write!(f, "{value}"),
                (None, None) => f.write_str(&self.hexadecimal()),
            },
        }
    }
}

/// A number as a case writes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer, decimal or hexadecimal.
    Integer(i128),
    /// Anything with a point or an exponent, and `NaN`, `inf`, `-inf`.
    Float(f64),
}

impl Number {
    /// Its value as a float, rounded.
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Item::deserialize(deserializer)? {
            Item::Number(number) => Ok(number),
            Item::List(_) => Err(de::Error::custom("expected a number, found a list")),
        }
    }
}

/// Expected values: one list, or several alternatives for the whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Data(pub Vec<Vec<Number>>);

impl<'de> Deserialize<'de> for Data {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let items = Vec::<Item>::deserialize(deserializer)?;
        let (mut numbers, mut lists) = (Vec::new(), Vec::new());
        for item in items {
            match item {
                Item::Number(number) => numbers.push(number),
                Item::List(list) => lists.push(list),
            }
        }
        match (numbers.is_empty(), lists.is_empty()) {
            (_, true) => Ok(Self(vec![numbers])),
            (true, false) => Ok(Self(lists)),
            (false, false) => Err(de::Error::custom("numbers and lists are mixed")),
        }
    }
}

/// A number, or a list of them.
enum Item {
    Number(Number),
    List(Vec<Number>),
}

impl<'de> Deserialize<'de> for Item {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ItemVisitor;

        impl<'de> Visitor<'de> for ItemVisitor {
            type Value = Item;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, or a list of numbers")
            }

            fn visit_i64<E>(self, value: i64) -> Result<Item, E> {
                Ok(Item::Number(Number::Integer(value.into())))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Item, E> {
                Ok(Item::Number(Number::Integer(value.into())))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Item, E> {
                Ok(Item::Number(Number::Float(value)))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Item, A::Error> {
                let mut numbers = Vec::new();
                while let Some(number) = seq.next_element::<Number>()? {
                    numbers.push(number);
                }
                Ok(Item::List(numbers))
            }
        }

        deserializer.deserialize_any(ItemVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_take_either_sign() {
        assert_eq!(ElementType::I32.element(Number::Integer(0xffff_fffe)).unwrap().as_integer(), Some(-2));
        assert_eq!(ElementType::U8.element(Number::Integer(-1)).unwrap().as_integer(), Some(255));
        assert!(ElementType::U8.element(Number::Integer(256)).is_err());
        assert!(ElementType::I16.element(Number::Integer(-32_769)).is_err());
        assert!(ElementType::U32.element(Number::Float(1.0)).is_err());
    }

    #[test]
    fn ordinals_count_the_values_between() {
        let ordinal = |value: f64| ElementType::F32.element(Number::Float(value)).unwrap().ordinal();
        assert_eq!(ordinal(0.0), ordinal(-0.0));
        assert_eq!(ordinal(1.0) - ordinal(f64::from(1.0f32.next_down())), 1);
        assert_eq!(ordinal(f64::from(f32::from_bits(1))) - ordinal(-f64::from(f32::from_bits(1))), 2);
    }

    #[test]
    fn bytes_round_trip() {
        for ty in [ElementType::U8, ElementType::F16, ElementType::I32, ElementType::F64] {
            let bytes = ty.encode(&[Number::Integer(3), Number::Integer(-7)]).unwrap();
            let texts = ty.decode(&bytes).map(|element| element.to_string()).collect::<Vec<_>>();
            let expected = match ty {
                ElementType::U8 => ["3", "249"],
                ElementType::I32 => ["3", "-7"],
                _ => ["3.0", "-7.0"],
            };
            assert_eq!(texts, expected);
        }
    }
}
