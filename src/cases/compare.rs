//! Comparison of what a case left behind with what it expects.

use super::{
    format::{Expectation, Rule},
    report::Mismatch,
    values::{Element, ElementType},
};

/// Compares the bytes of a resource, whose elements are of type `ty`, with an expectation.
///
/// # Errors
/// The expectation itself is faulty: it names elements that the resource does not have, or values that its type cannot
/// hold.
pub fn compare(expectation: &Expectation, ty: ElementType, bytes: &[u8]) -> Result<Vec<Mismatch>, String> {
    let ty = expectation.read_as.unwrap_or(ty);
    let got = ty.decode(bytes).collect::<Vec<_>>();
    let lists = &expectation.values.0;
    if expectation.rule != Rule::OneOf && lists.len() != 1 {
        return Err("several lists of values need the rule OneOf".into());
    }
    let mut best: Option<Vec<Mismatch>> = None;
    for list in lists {
        if list.is_empty() {
            return Err("no values".into());
        }
        let end = expectation.from.checked_add(list.len()).filter(|&end| end <= got.len()).ok_or_else(|| {
            format!("{} values from element {} on, but there are {} elements", list.len(), expectation.from, got.len())
        })?;
        let mut mismatches = Vec::new();
        for (index, (&got, &number)) in got[expectation.from..end].iter().zip(list).enumerate() {
            let element = expectation.from + index;
            let expected = ty.element(number).map_err(|error| format!("value {index}: {error}"))?;
            if !equal(got, expected, expectation.rule) {
                mismatches.push(Mismatch {
                    of: expectation.of.clone(),
                    element,
                    got: got.to_string(),
                    expected: expected.to_string(),
                    got_bits: got.hexadecimal(),
                    expected_bits: expected.hexadecimal(),
                });
            }
        }
        // Of several alternatives the nearest one tells most.
        if best.as_ref().is_none_or(|best| mismatches.len() < best.len()) {
            best = Some(mismatches);
        }
    }
    best.ok_or_else(|| "no values".into())
}

/// Whether an element is what a rule allows.
fn equal(got: Element, expected: Element, rule: Rule) -> bool {
    if got.is_nan() || expected.is_nan() {
        return got.is_nan() && expected.is_nan();
    }
    if got.bits == expected.bits {
        return true;
    }
    match rule {
        Rule::Exact | Rule::OneOf => false,
        Rule::Ulp(units) => (got.ordinal() - expected.ordinal()).unsigned_abs() <= units.into(),
        Rule::Abs(distance) => difference(got, expected) <= distance,
        Rule::Rel(ratio) => {
            let magnitude =
                expected.as_float().or(expected.as_integer().map(|value| value as f64)).map_or(0.0, f64::abs);
            magnitude.is_finite() && difference(got, expected) <= ratio * magnitude
        }
    }
}

/// Distance of two elements of one type; infinite if one is.
fn difference(a: Element, b: Element) -> f64 {
    match (a.as_float(), b.as_float()) {
        (Some(a), Some(b)) if a == b => 0.0,
        (Some(a), Some(b)) => (a - b).abs(),
        _ => a.ordinal().abs_diff(b.ordinal()) as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::values::{Data, Number};

    fn check(got: &[f32], expected: &[f64], rule: Rule) -> usize {
        let bytes = got.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>();
        let values = Data(vec![expected.iter().copied().map(Number::Float).collect()]);
        let expectation =
            Expectation { of: "A".into(), mip: 0, layer: 0, sample: None, from: 0, values, rule, read_as: None };
        compare(&expectation, ElementType::F32, &bytes).unwrap().len()
    }

    #[test]
    fn rules() {
        let above = 1.0f32.next_up();
        assert_eq!(check(&[1.0, f32::NAN], &[1.0, f64::NAN], Rule::Exact), 0);
        assert_eq!(check(&[-0.0, above], &[0.0, 1.0], Rule::Exact), 2);
        assert_eq!(check(&[-0.0, above], &[0.0, 1.0], Rule::Ulp(0)), 1);
        assert_eq!(check(&[-0.0, above], &[0.0, 1.0], Rule::Ulp(1)), 0);
        assert_eq!(check(&[1.25, f32::NAN], &[1.0, 1.0], Rule::Abs(0.25)), 1);
        assert_eq!(check(&[101.0, f32::INFINITY], &[100.0, f64::INFINITY], Rule::Rel(0.01)), 0);
        assert_eq!(check(&[1.0], &[f64::INFINITY], Rule::Rel(0.5)), 1);
        assert_eq!(check(&[1.0], &[f64::INFINITY], Rule::Abs(1.0)), 1);
    }

    #[test]
    fn elements_that_are_not_there_are_a_fault_of_the_case() {
        let values = Data(vec![vec![Number::Integer(1); 2]]);
        let expectation = Expectation {
            of: "A".into(),
            mip: 0,
            layer: 0,
            sample: None,
            from: 0,
            values,
            rule: Rule::Exact,
            read_as: None,
        };
        assert!(compare(&expectation, ElementType::U32, &[1, 0, 0, 0]).is_err());
    }

    #[test]
    fn one_of_takes_whole_lists() {
        let list = |a, b| vec![Number::Integer(a), Number::Integer(b)];
        let values = Data(vec![list(1, 2), list(3, 4)]);
        let expectation = Expectation {
            of: "A".into(),
            mip: 0,
            layer: 0,
            sample: None,
            from: 0,
            values,
            rule: Rule::OneOf,
            read_as: None,
        };
        assert_eq!(compare(&expectation, ElementType::U8, &[3, 4]).unwrap().len(), 0);
        assert_eq!(compare(&expectation, ElementType::U8, &[1, 4]).unwrap().len(), 1);
    }
}
