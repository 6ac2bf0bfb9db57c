//! A YAML document as LLVM's `yaml::Output` lays it out: maps and sequences in blocks, their values in a column, short
//! sequences in brackets that break after 70 columns.

use std::{borrow::Cow, fmt::Write, sync::LazyLock};

/// Every byte in hexadecimal: bitcode is most of a document.
static BYTES: LazyLock<Vec<String>> = LazyLock::new(|| (0..=255).map(|byte| format!("0x{byte:X}")).collect());

/// Columns after which a sequence in brackets breaks.
const WIDTH: usize = 70;
/// Columns that a key and the blanks after it fill.
const KEY_WIDTH: usize = 16;

/// A value.
pub(super) enum Node<'a> {
    /// A number, or a name that needs no quotes.
    Plain(Cow<'static, str>),
    /// Text, quoted where it needs it.
    Text(Cow<'a, str>),
    /// Plain values in brackets.
    Row(Vec<String>),
    /// Bytes in brackets.
    Bytes(&'a [u8]),
    /// Values one under the other.
    Sequence(Vec<Node<'a>>),
    /// Keys and values.
    Map(Map<'a>),
}

/// Keys and values, in order, and comments between them.
#[derive(Default)]
pub(super) struct Map<'a>(Vec<Entry<'a>>);

enum Entry<'a> {
    Value(&'static str, Node<'a>),
    Comment(String),
}

impl<'a> Map<'a> {
    pub(super) fn set(&mut self, key: &'static str, value: impl Into<Node<'a>>) {
        self.0.push(Entry::Value(key, value.into()));
    }

    /// A line that says something to people alone.
    pub(super) fn comment(&mut self, text: String) {
        self.0.push(Entry::Comment(text));
    }
}

impl<'a> From<Map<'a>> for Node<'a> {
    fn from(map: Map<'a>) -> Self {
        Self::Map(map)
    }
}

impl<'a, T: Into<Node<'a>>> From<Vec<T>> for Node<'a> {
    fn from(items: Vec<T>) -> Self {
        Self::Sequence(items.into_iter().map(Into::into).collect())
    }
}

impl From<&'static str> for Node<'_> {
    fn from(name: &'static str) -> Self {
        Self::Plain(name.into())
    }
}

/// Numbers and truth values are their own text.
macro_rules! plain {
    ($($type:ty)*) => {
        $(impl From<$type> for Node<'_> {
            fn from(value: $type) -> Self {
                Self::Plain(value.to_string().into())
            }
        })*
    };
}

plain!(u8 u16 u32 usize bool);

impl<'a> Node<'a> {
    /// Plain values in brackets.
    pub(super) fn row<T: ToString>(items: impl IntoIterator<Item = T>) -> Self {
        Self::Row(items.into_iter().map(|item| item.to_string()).collect())
    }

    /// Numbers in brackets, in hexadecimal.
    pub(super) fn hex_row(items: impl IntoIterator<Item = u32>) -> Self {
        Self::Row(items.into_iter().map(|item| format!("0x{item:X}")).collect())
    }
}

/// A document of one map, with a tag.
pub(super) fn write(tag: &str, map: &Map<'_>) -> String {
    let mut out = format!("--- {tag}\n");
    write_map(&mut out, map, 0, false);
    out.push_str("...\n");
    out
}

/// The entries of a map. The first key stands where the line is, if `inline`.
fn write_map(out: &mut String, map: &Map<'_>, indent: usize, inline: bool) {
    for (index, entry) in map.0.iter().enumerate() {
        if index > 0 || !inline {
            blanks(out, indent);
        }
        match entry {
            Entry::Comment(text) => {
                let _ = writeln!(out, "# {}", text.replace(|character: char| character.is_control(), " "));
            }
            Entry::Value(key, value) => {
                let _ = write!(out, "{key}:");
                write_value(out, value, indent, key.len());
            }
        }
    }
}

/// The value of a key.
fn write_value(out: &mut String, value: &Node<'_>, indent: usize, key: usize) {
    let padding = if key < KEY_WIDTH { KEY_WIDTH - key } else { 1 };
    match value {
        Node::Map(map) => {
            out.push('\n');
            write_map(out, map, indent + 2, false);
        }
        Node::Sequence(items) if items.is_empty() => {
            blanks(out, padding);
            out.push_str("[]\n");
        }
        Node::Sequence(items) => {
            out.push('\n');
            for item in items {
                blanks(out, indent + 2);
                out.push_str("- ");
                match item {
                    Node::Map(map) => write_map(out, map, indent + 4, true),
                    item => write_scalar(out, item, indent + 4),
                }
            }
        }
        value => {
            blanks(out, padding);
            write_scalar(out, value, indent + key + 1 + padding);
        }
    }
}

/// A value that needs no block. `column` is where the line is.
fn write_scalar(out: &mut String, value: &Node<'_>, column: usize) {
    match value {
        Node::Plain(text) => out.push_str(text),
        Node::Text(text) => quote(out, text),
        Node::Row(items) => write_row(out, items.iter(), column),
        Node::Bytes(bytes) => write_row(out, bytes.iter().map(|&byte| &BYTES[usize::from(byte)]), column),
        // Sequences of sequences are in brackets in this vocabulary, and maps are written by their callers.
        Node::Sequence(_) | Node::Map(_) => {}
    }
    out.push('\n');
}

/// Values in brackets, from a column on.
fn write_row<T: AsRef<str>>(out: &mut String, items: impl Iterator<Item = T>, first: usize) {
    out.push_str("[ ");
    let mut column = first + 2;
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push_str(", ");
            column += 2;
        }
        if column > WIDTH {
            out.push('\n');
            blanks(out, first + 2);
            column = first + 2;
        }
        out.push_str(item.as_ref());
        column += item.as_ref().len();
    }
    out.push_str(" ]");
}

fn blanks(out: &mut String, count: usize) {
    out.extend(std::iter::repeat_n(' ', count));
}

/// How a text must be quoted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Single,
    Double,
}

/// A text, in quotes if it would be read as something else without them. Line breaks, control characters and what is not
/// ASCII go in double quotes, escaped if they cannot be seen.
fn quote(out: &mut String, text: &str) {
    match quotes(text) {
        Quotes::None => out.push_str(text),
        Quotes::Single => {
            let _ = write!(out, "'{}'", text.replace('\'', "''"));
        }
        Quotes::Double => {
            out.push('"');
            text.chars().for_each(|character| escape(out, character));
            out.push('"');
        }
    }
}

fn quotes(text: &str) -> Quotes {
    let (Some(first), Some(last)) = (text.chars().next(), text.chars().last()) else { return Quotes::Single };
    if text.contains(|character: char| character.is_control() && character != '\t' || !character.is_ascii()) {
        return Quotes::Double;
    }
    let safe = |character: char| character.is_ascii_alphanumeric() || "_-^., \t".contains(character);
    let named = ["null", "~", "true", "false"].iter().any(|word| {
        let capital = word[..1].to_ascii_uppercase() + &word[1..];
        text == *word || text == capital || text == word.to_ascii_uppercase()
    });
    let blank = |character: char| character == ' ' || character == '\t';
    let indicator = "-?:\\,[]{}#&*!|>'\"%@`".contains(first);
    if blank(first) || blank(last) || named || indicator || is_number(text) || !text.chars().all(safe) {
        return Quotes::Single;
    }
    Quotes::None
}

/// The text is a number of YAML's core schema.
fn is_number(text: &str) -> bool {
    let digits = |text: &str, radix: u32| !text.is_empty() && text.chars().all(|digit| digit.is_digit(radix));
    if let Some(octal) = text.strip_prefix("0o") {
        return digits(octal, 8);
    }
    if let Some(hexadecimal) = text.strip_prefix("0x") {
        return digits(hexadecimal, 16);
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(text, ".nan" | ".NaN" | ".NAN") || matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return true;
    }
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mantissa = format!("{whole}{fraction}");
    digits(&mantissa, 10) && exponent.is_none_or(|exponent| digits(exponent, 10))
}

fn escape(out: &mut String, character: char) {
    let _ = match character {
        '\\' => write!(out, "\\\\"),
        '"' => write!(out, "\\\""),
        '\0' => write!(out, "\\0"),
        '\x07' => write!(out, "\\a"),
        '\x08' => write!(out, "\\b"),
        '\t' => write!(out, "\\t"),
        '\n' => write!(out, "\\n"),
        '\x0b' => write!(out, "\\v"),
        '\x0c' => write!(out, "\\f"),
        '\r' => write!(out, "\\r"),
        '\x1b' => write!(out, "\\e"),
        '\u{85}' => write!(out, "\\N"),
        '\u{a0}' => write!(out, "\\_"),
        '\u{2028}' => write!(out, "\\L"),
        '\u{2029}' => write!(out, "\\P"),
        character if character.is_control() => write!(out, "\\x{:02X}", u32::from(character)),
        character => write!(out, "{character}"),
    };
}

/// A number as C's `%g` writes it: six digits, without the zeros at their end.
pub(super) fn general(value: f32) -> String {
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if value.is_nan() {
        return format!("{sign}nan");
    }
    if value.is_infinite() {
        return format!("{sign}inf");
    }
    let scientific = format!("{value:.5e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent = exponent.parse::<i32>().unwrap_or(0);
    let trim = |text: &str| {
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text.to_owned() }
    };
    if (-4..6).contains(&exponent) {
        return trim(&format!("{value:.*}", (5 - exponent) as usize));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trim(mantissa), exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_where_they_would_be_something_else() {
        let quoted = |text: &str| {
            let mut out = String::new();
            quote(&mut out, text);
            out
        };
        for plain in ["TEXCOORD", "main", "a b", "v1.0", "e5", "0o", "1e", "x.", "nullable"] {
            assert_eq!(quoted(plain), plain);
        }
        let texts = [
            " a", "b\t", "null", "~", "True", "FALSE", "1", "-2.5e-7", ".5", "0x1F", "0o17", ".inf", "-x", "+", "a:b",
            "a/b",
        ];
        for text in texts {
            assert_eq!(quoted(text), format!("'{text}'"));
        }
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("it's"), "'it''s'");
        assert_eq!(quoted("TAT\x10"), "\"TAT\\x10\"");
        assert_eq!(quoted("a\nb\\\"\u{fffd}"), "\"a\\nb\\\\\\\"\u{fffd}\"");
    }

    #[test]
    fn numbers_as_c_writes_them() {
        let cases = [(0.0, "0"), (-0.0, "-0"), (1.0, "1"), (-10.5, "-10.5"), (f32::MAX, "3.40282e+38")];
        let more = [
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (999_999.0, "999999"),
            (1_000_000.0, "1e+06"),
            (1.0 / 3.0, "0.333333"),
        ];
        for (value, text) in cases.into_iter().chain(more).chain([(f32::NAN, "nan"), (f32::NEG_INFINITY, "-inf")]) {
            assert_eq!(general(value), text);
        }
    }

    #[test]
    fn layout() {
        let mut inner = Map::default();
        inner.set("Name", Node::Text("a".into()));
        inner.set("Rows", vec![Node::hex_row([1, 255]), Node::hex_row([])]);
        inner.comment("of two\nlines".into());
        let mut map = Map::default();
        map.set("None", Vec::<Map<'_>>::new());
        map.set("Bytes", Node::Bytes(&[0x10; 14]));
        map.set("Items", vec![inner]);
        map.set("AKeyThatIsLongerThanThat", 1_u32);
        let expected = "\
--- !tag
None:            []
Bytes:           [ 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, \n                   \
                   0x10, 0x10, 0x10, 0x10, 0x10 ]
Items:
  - Name:            a
    Rows:
      - [ 0x1, 0xFF ]
      - [  ]
    # of two lines
AKeyThatIsLongerThanThat: 1
...
";
        assert_eq!(write("!tag", &map), expected);
    }
}
