//! Attributes.

use super::Listing;
use crate::{Error, Result, dxil::module::Attribute};

impl Listing<'_> {
    /// The groups that functions and calls refer to by number.
    pub(super) fn attribute_groups(&mut self) -> Result<()> {
        let groups = std::mem::take(&mut self.slots.attribute_order);
        if !groups.is_empty() {
            self.push("\n");
        }
        for (number, group) in groups.iter().enumerate() {
            let group = spelled(group, true)?;
            self.write(format_args!("attributes #{number} = {{ {group} }}\n"))?;
        }
        Ok(())
    }

    /// The reference to the group of attributes that a list has for the function as a whole, if it has any.
    pub(super) fn attribute_reference(&mut self, list: Option<u32>) -> Result<()> {
        match self.slots.attributes.get(self.function_attributes(list)).copied() {
            Some(number) => self.write(format_args!(" #{number}")),
            None => Ok(()),
        }
    }
}

/// Attributes, separated by spaces: flags in the order of LLVM's numbering, then numbers by their value, strings last
/// (`AttributeImpl::operator<`).
///
/// # Errors
/// There is one that LLVM 3.7 does not have.
pub(super) fn spelled(attributes: &[Attribute], group: bool) -> Result<String> {
    let mut sorted = Vec::with_capacity(attributes.len());
    for attribute in attributes {
        sorted.push(match attribute {
            Attribute::Flag(code) => {
                let (rank, name) = known(*code)?;
                (0, rank as u64, name.to_owned())
            }
            Attribute::Number(code, value) => {
                let (_, name) = known(*code)?;
                let text = match name {
                    _ if group => format!("{name}={value}"),
                    "align" => format!("align {value}"),
                    _ => format!("{name}({value})"),
                };
                (1, *value, text)
            }
            Attribute::Text(kind, value) if value.is_empty() => (2, 0, format!("\"{kind}\"")),
            Attribute::Text(kind, value) => (2, 0, format!("\"{kind}\"=\"{value}\"")),
        });
    }
    sorted.sort();
    Ok(sorted.into_iter().map(|(_, _, text)| text).collect::<Vec<_>>().join(" "))
}

/// Position and name of an attribute in LLVM's `Attribute::AttrKind`.
fn known(code: u64) -> Result<(usize, &'static str)> {
    let rank = ATTRIBUTES.iter().position(|(known, _)| *known == code);
    let rank = rank.ok_or_else(|| Error::unsupported(format!("attribute of an unknown number: {code}")))?;
    Ok((rank, ATTRIBUTES[rank].1))
}

/// Number in `LLVMBitCodes.h` (`AttributeKindCodes`) and name, in the order of `Attribute::AttrKind`.
#[rustfmt::skip]
const ATTRIBUTES: [(u64, &str); 45] = [
    (1, "align"), (2, "alwaysinline"), (35, "builtin"), (3, "byval"), (38, "inalloca"), (36, "cold"),
    (43, "convergent"), (4, "inlinehint"), (5, "inreg"), (40, "jumptable"), (6, "minsize"), (7, "naked"),
    (8, "nest"), (9, "noalias"), (10, "nobuiltin"), (11, "nocapture"), (12, "noduplicate"),
    (13, "noimplicitfloat"), (14, "noinline"), (15, "nonlazybind"), (39, "nonnull"), (41, "dereferenceable"),
    (42, "dereferenceable_or_null"), (16, "noredzone"), (17, "noreturn"), (18, "nounwind"), (19, "optsize"),
    (37, "optnone"), (20, "readnone"), (21, "readonly"), (45, "argmemonly"), (22, "returned"),
    (23, "returns_twice"), (24, "signext"), (25, "alignstack"), (26, "ssp"), (27, "sspreq"), (28, "sspstrong"),
    (44, "safestack"), (29, "sret"), (30, "sanitize_address"), (31, "sanitize_thread"), (32, "sanitize_memory"),
    (33, "uwtable"), (34, "zeroext"),
];
