//! Constants.

use super::{Listing, instruction, names::escape};
use crate::{
    Error, Result,
    dxil::module::{Constant, Expression, Predicate, Type, TypeId, ValueDef, ValueId},
};

/// Deepest nesting of constants.
const MAX_DEPTH: u32 = 64;

impl Listing<'_> {
    /// A constant, without its type.
    pub(super) fn constant(&mut self, ty: TypeId, constant: &Constant, depth: u32) -> Result<()> {
        if depth > MAX_DEPTH {
            return Err(Error::malformed("constants are nested too deep"));
        }
        self.check_len()?;
        match constant {
            Constant::Undefined => self.push("undef"),
            Constant::Null => match self.module.types.get(ty) {
                Some(Type::Integer(_) | Type::Half | Type::Float | Type::Double) => return self.number(ty, 0),
                Some(Type::Pointer { .. }) => self.push("null"),
                _ => self.push("zeroinitializer"),
            },
            Constant::Integer(value) => return self.number(ty, *value as u64),
            Constant::Float(bits) => return self.number(ty, *bits),
            Constant::Data(words) => return self.data(ty, words),
            Constant::Aggregate(parts) => return self.aggregate(ty, parts, depth),
            Constant::Expression(expression) => return self.constant_expression(ty, expression, depth),
        }
        Ok(())
    }

    /// A number of a type, from its bits.
    fn number(&mut self, ty: TypeId, bits: u64) -> Result<()> {
        match self.module.types.get(ty) {
            Some(Type::Integer(1)) => self.push(if bits & 1 != 0 { "true" } else { "false" }),
            Some(&Type::Integer(width)) => {
                let unused = 64u32.saturating_sub(width).min(63);
                return self.write(format_args!("{}", (bits << unused) as i64 >> unused));
            }
            Some(Type::Half) => return self.write(format_args!("0xH{:04X}", bits as u16)),
            Some(Type::Float) => {
                let float = f32::from_bits(bits as u32);
                let text = decimal(f64::from(float)).unwrap_or_else(|| format!("0x{:X}", widened(bits as u32)));
                self.push(&text);
            }
            Some(Type::Double) => {
                let text = decimal(f64::from_bits(bits)).unwrap_or_else(|| format!("0x{bits:X}"));
                self.push(&text);
            }
            _ => return Err(Error::malformed("number of a type that has none")),
        }
        Ok(())
    }

    /// An array or vector of numbers.
    fn data(&mut self, ty: TypeId, words: &[u64]) -> Result<()> {
        let (open, close, element) = self.brackets(ty)?;
        if words.iter().all(|&word| word == 0) {
            self.push("zeroinitializer");
            return Ok(());
        }
        if open == "[" && self.module.types.get(element) == Some(&Type::Integer(8)) {
            return self.characters(words.iter().map(|&word| word as u8));
        }
        self.push(open);
        for (index, &word) in words.iter().enumerate() {
            if index > 0 {
                self.push(", ");
            }
            self.ty(element)?;
            self.push(" ");
            self.number(element, word)?;
        }
        self.push(close);
        Ok(())
    }

    fn characters(&mut self, characters: impl Iterator<Item = u8>) -> Result<()> {
        self.push("c\"");
        characters.for_each(|character| escape(&mut self.text, character));
        self.push("\"");
        Ok(())
    }

    /// Brackets around the elements of an array or vector, and the elements' type.
    fn brackets(&self, ty: TypeId) -> Result<(&'static str, &'static str, TypeId)> {
        match self.module.types.get(ty) {
            Some(Type::Array { element, .. }) => Ok(("[", "]", *element)),
            Some(Type::Vector { element, .. }) => Ok(("<", ">", *element)),
            _ => Err(Error::malformed("elements of a type that has none")),
        }
    }

    fn aggregate(&mut self, ty: TypeId, parts: &[ValueId], depth: u32) -> Result<()> {
        let (open, close) = match self.module.types.get(ty) {
            Some(Type::Struct { fields, .. }) if fields.len() != parts.len() => {
                return Err(Error::malformed("constant has not as many parts as its type"));
            }
            Some(Type::Struct { packed: true, .. }) => ("<{ ", " }>"),
            Some(Type::Struct { .. }) => ("{ ", " }"),
            _ => {
                let (open, close, element) = self.brackets(ty)?;
                if open == "[" && self.module.types.get(element) == Some(&Type::Integer(8)) {
                    let character = |&part: &ValueId| match self.value_of(part).ok()?.def {
                        ValueDef::Constant(Constant::Integer(character)) => Some(character as u8),
                        ValueDef::Constant(Constant::Null) => Some(0),
                        _ => None,
                    };
                    if let Some(characters) = parts.iter().map(character).collect::<Option<Vec<_>>>() {
                        return self.characters(characters.into_iter());
                    }
                }
                (open, close)
            }
        };
        if parts.is_empty() {
            // `{}` and its like.
            self.push(open.trim_end());
            self.push(close.trim_start());
            return Ok(());
        }
        self.push(open);
        for (index, &part) in parts.iter().enumerate() {
            if index > 0 {
                self.push(", ");
            }
            self.part(part, depth)?;
        }
        self.push(close);
        Ok(())
    }

    /// A part of a constant, with its type.
    fn part(&mut self, id: ValueId, depth: u32) -> Result<()> {
        let value = self.value_of(id)?;
        self.ty(value.ty)?;
        self.push(" ");
        match &value.def {
            ValueDef::Constant(constant) => self.constant(value.ty, constant, depth + 1),
            _ => self.operand(id),
        }
    }

    fn constant_expression(&mut self, ty: TypeId, expression: &Expression, depth: u32) -> Result<()> {
        let parts = |this: &mut Self, parts: &[ValueId]| {
            for (index, &part) in parts.iter().enumerate() {
                if index > 0 {
                    this.push(", ");
                }
                this.part(part, depth)?;
            }
            Ok::<_, Error>(())
        };
        match expression {
            Expression::Binary { op, a, b, flags } => {
                self.push(instruction::binary_name(*op));
                self.arithmetic_flags(*op, *flags);
                self.push(" (");
                parts(self, &[*a, *b])?;
            }
            Expression::Cast(op, value) => {
                self.push(instruction::cast_name(*op));
                self.push(" (");
                parts(self, &[*value])?;
                self.push(" to ");
                self.ty(ty)?;
            }
            Expression::ElementPointer { base, indices, in_bounds } => {
                self.push(if *in_bounds { "getelementptr inbounds (" } else { "getelementptr (" });
                let pointee = self.module.types.pointee(self.type_of(*base)?);
                self.ty(pointee.ok_or_else(|| Error::malformed("address is no pointer"))?)?;
                self.push(", ");
                parts(self, &[*base])?;
                for &index in indices {
                    self.push(", ");
                    parts(self, &[index])?;
                }
            }
            Expression::Select(condition, accept, reject) => {
                self.push("select (");
                parts(self, &[*condition, *accept, *reject])?;
            }
            Expression::Compare(predicate, a, b) => {
                let predicate = Predicate::decode(u64::from(*predicate));
                let predicate = predicate.ok_or_else(|| Error::malformed("unknown comparison"))?;
                let (opcode, predicate) = instruction::predicate_name(predicate);
                self.write(format_args!("{opcode} {predicate} ("))?;
                parts(self, &[*a, *b])?;
            }
            Expression::Other(code) => return Err(Error::unsupported(format!("constant expression: code {code}"))),
        }
        self.push(")");
        Ok(())
    }
}

/// A float as a decimal of seven digits, if that says exactly what it is.
fn decimal(value: f64) -> Option<String> {
    if !value.is_finite() {
        return None;
    }
    let text = format!("{value:.6e}");
    (text.parse() == Ok(value)).then(|| {
        // C's form: the exponent has a sign and two digits at least.
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
        format!("{mantissa}e{sign}{digits:0>2}")
    })
}

/// Bits of a 32-bit float as those of a 64-bit float; the payload of a NaN is kept.
fn widened(bits: u32) -> u64 {
    let value = f32::from_bits(bits);
    if value.is_nan() {
        return u64::from(bits >> 31) << 63 | 0x7ff << 52 | u64::from(bits & 0x7f_ffff) << 29;
    }
    f64::from(value).to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_decimal_where_that_is_exact() {
        assert_eq!(decimal(1.0).as_deref(), Some("1.000000e+00"));
        assert_eq!(decimal(-0.0).as_deref(), Some("-0.000000e+00"));
        assert_eq!(decimal(0.003_906_25).as_deref(), Some("3.906250e-03"));
        assert_eq!(decimal(1e100).as_deref(), Some("1.000000e+100"));
        assert_eq!(decimal(f64::from(0.1f32)), None);
        assert_eq!(decimal(f64::INFINITY), None);
    }

    #[test]
    fn floats_are_written_as_doubles() {
        assert_eq!(widened(0.1f32.to_bits()), 0x3fb9_9999_a000_0000);
        assert_eq!(widened(1), 0x36a0_0000_0000_0000);
        assert_eq!(widened(0x7f80_0000), 0x7ff0_0000_0000_0000);
        assert_eq!(widened(0xff80_0001), 0xfff0_0000_2000_0000);
    }
}
