//! Identifiers and strings.

use std::fmt::Write;

use super::Listing;
use crate::{
    Error, Result,
    dxil::module::{FunctionId, GlobalId, ValueId},
};

impl Listing<'_> {
    /// Name or number of a global variable.
    pub(super) fn global_name(&mut self, id: GlobalId) -> Result<()> {
        let slot = self.slots.globals.get(&id).copied();
        self.symbol_name(&self.module.globals[id.index()].name, slot)
    }

    /// Name or number of a function.
    pub(super) fn function_name(&mut self, id: FunctionId) -> Result<()> {
        let slot = self.slots.functions.get(&id).copied();
        self.symbol_name(&self.module.functions[id.index()].name, slot)
    }

    /// `@name`, `@"na me"`, or `@0` if there is no name.
    fn symbol_name(&mut self, name: &str, slot: Option<u32>) -> Result<()> {
        if let Some(slot) = slot {
            return self.write(format_args!("@{slot}"));
        }
        self.push("@");
        identifier(&mut self.text, name);
        Ok(())
    }

    /// Name or number of an argument or an instruction.
    pub(super) fn local_name(&mut self, id: ValueId) -> Result<()> {
        let function = self.function.as_ref().ok_or_else(|| Error::malformed("value of no function"))?;
        match function.body.annotations.names.get(&id) {
            Some(name) if !name.is_empty() => {
                self.push("%");
                identifier(&mut self.text, name);
                Ok(())
            }
            _ => {
                let slot = function.slot(id).ok_or_else(|| Error::malformed("value without a result is used"))?;
                self.write(format_args!("%{slot}"))
            }
        }
    }
}

/// A name as an identifier without its sigil: in quotes if it has other characters than letters, digits, `-`, `.`, `_`.
pub(super) fn identifier(text: &mut String, name: &str) {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    if name.bytes().all(plain) && !name.starts_with(|first: char| first.is_ascii_digit()) {
        text.push_str(name);
    } else {
        text.push('"');
        escaped(text, name);
        text.push('"');
    }
}

/// Name of named metadata or of a kind of attachment, without its `!`.
pub(super) fn metadata_identifier(text: &mut String, name: &str) {
    if name.is_empty() {
        text.push_str("<empty name> ");
    }
    for (index, byte) in name.bytes().enumerate() {
        if matches!(byte, b'-' | b'$' | b'.' | b'_')
            || if index == 0 { byte.is_ascii_alphabetic() } else { byte.is_ascii_alphanumeric() }
        {
            text.push(char::from(byte));
        } else {
            hexadecimal(text, byte);
        }
    }
}

/// A string between quotes, which are not written.
pub(super) fn escaped(text: &mut String, string: &str) {
    string.bytes().for_each(|byte| escape(text, byte));
}

/// A character of a string: printable ones of ASCII as they are, others, `\` and `"` as `\` and two digits.
pub(super) fn escape(text: &mut String, byte: u8) {
    match byte {
        b'\\' | b'"' => hexadecimal(text, byte),
        b' '..=b'~' => text.push(char::from(byte)),
        _ => hexadecimal(text, byte),
    }
}

/// A string as it is, but for control characters, which are escaped: it does not end a line or a comment.
pub(super) fn one_line(text: &mut String, string: &str) {
    for character in string.chars() {
        if character.is_control() {
            character.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| escape(text, byte));
        } else {
            text.push(character);
        }
    }
}

fn hexadecimal(text: &mut String, byte: u8) {
    // Writing to a string does not fail.
    let _ = write!(text, "\\{byte:02X}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(write: fn(&mut String, &str), name: &str) -> String {
        let mut text = String::new();
        write(&mut text, name);
        text
    }

    #[test]
    fn names_are_quoted_where_llvm_quotes() {
        assert_eq!(spelled(identifier, "dx.op.createHandle"), "dx.op.createHandle");
        assert_eq!(spelled(identifier, "2d"), "\"2d\"");
        assert_eq!(spelled(identifier, "\u{1}?f@@YA\\"), "\"\\01?f@@YA\\5C\"");
        assert_eq!(spelled(identifier, "é"), "\"\\C3\\A9\"");
        assert_eq!(spelled(metadata_identifier, "dx.op 2"), "dx.op\\202");
        assert_eq!(spelled(escaped, "a\"b\n"), "a\\22b\\0A");
    }
}
