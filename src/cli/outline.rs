//! Values as an outline for people: what `serde` makes of them, without brackets and quotes.

use serde::Serialize;

use super::style::{NAME, paint};

/// Characters of the longest list that stays on a line.
const LINE: usize = 100;

/// A value, one field a line, indented. Fields keep their order.
///
/// # Errors
/// The value cannot be serialized.
pub fn outline(value: &impl Serialize) -> serde_json::Result<String> {
    // Indented JSON has one field or bracket a line, and strings have no line breaks.
    let json = serde_json::to_string_pretty(value)?;
    let mut lines = json.lines().peekable();
    let mut out = String::new();
    while let Some(line) = lines.next() {
        let text = line.trim_start();
        let indent = (line.len() - text.len()).saturating_sub(2);
        let text = text.strip_suffix(',').unwrap_or(text);
        if indent == 0 && line.len() == text.len() && text.len() == 1 || text.starts_with(['}', ']']) {
            continue;
        }
        let (key, value) = split(text);
        let key = key.map_or_else(|| "- ".to_owned(), |key| format!("{}: ", paint(NAME, key)));
        let value = match value {
            "[" => {
                // A list of numbers and names goes on one line.
                let ahead = lines.clone().map(str::trim).take_while(|line| !line.starts_with([']', '}']));
                let items = ahead.map(|item| item.strip_suffix(',').unwrap_or(item)).collect::<Vec<_>>();
                let simple = items.iter().all(|item| !item.ends_with(['[', '{']) && split(item).0.is_none());
                let joined = items.iter().map(|item| plain(item)).collect::<Vec<_>>().join(", ");
                if simple && joined.len() <= LINE {
                    for _ in 0..=items.len() {
                        lines.next();
                    }
                    joined
                } else {
                    String::new()
                }
            }
            "{" => String::new(),
            "[]" | "{}" | "null" => "none".to_owned(),
            value => block(value, indent + 2).unwrap_or_else(|| plain(value)),
        };
        out.push_str(&" ".repeat(indent));
        let key = if value.starts_with('\n') { key.trim_end() } else { &key };
        out.push_str(format!("{key}{value}").trim_end());
        out.push('\n');
    }
    Ok(out)
}

/// A text of several lines, one under the other.
fn block(text: &str, indent: usize) -> Option<String> {
    let string = serde_json::from_str::<String>(text).ok().filter(|string| string.contains('\n'))?;
    if string.contains(|character: char| character.is_control() && !"\n\r\t".contains(character)) {
        return None;
    }
    let indent = " ".repeat(indent);
    Some(string.lines().map(|line| format!("\n{indent}{line}")).collect())
}

/// Key and value of a line.
fn split(text: &str) -> (Option<String>, &str) {
    if text.starts_with('"') {
        let mut escaped = false;
        for (at, character) in text.char_indices().skip(1) {
            match character {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => {
                    return match text[at + 1..].strip_prefix(": ") {
                        Some(value) => (Some(plain(&text[..=at])), value),
                        None => (None, text),
                    };
                }
                _ => {}
            }
        }
    }
    (None, text)
}

/// A string without its quotes, if nothing in it is hidden by that.
fn plain(text: &str) -> String {
    match serde_json::from_str::<String>(text) {
        Ok(string) if !string.is_empty() && string.trim() == string && !string.contains(char::is_control) => string,
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;

    use super::*;

    #[test]
    fn fields_lists_and_texts() {
        #[derive(Serialize)]
        struct Thing {
            zeta: u32,
            alpha: Vec<Thing>,
            names: Vec<&'static str>,
            text: &'static str,
            nothing: Option<u32>,
        }
        let inner = Thing { zeta: 2, alpha: vec![], names: vec![], text: "two\nlines", nothing: None };
        let thing = Thing { zeta: 1, alpha: vec![inner], names: vec!["a", "b: c"], text: "x\": [", nothing: Some(3) };
        let expected = "\
zeta: 1
alpha:
  -
    zeta: 2
    alpha: none
    names: none
    text:
      two
      lines
    nothing: none
names: a, b: c
text: x\": [
nothing: 3
";
        assert_eq!(strip_str(&outline(&thing).unwrap()).to_string(), expected);
    }
}
