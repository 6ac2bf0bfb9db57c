//! Arguments without names before those with names.

/// Gives the leading numbers of `DrawMesh(x, y, z, ..)` and `Rays(width, height, depth, ..)` their field names: RON
/// has no tuples that go over into named fields.
pub(super) fn name_leading(text: &str) -> String {
    const VARIANTS: [(&str, [&str; 3]); 2] = [("DrawMesh", ["x", "y", "z"]), ("Rays", ["width", "height", "depth"])];
    let mut out = String::with_capacity(text.len() + 64);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = match first {
            '"' => string_length(rest),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            _ if first.is_alphabetic() || first == '_' => {
                let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
                let (word, after) = rest.split_at(length);
                let names = VARIANTS.iter().find(|(variant, _)| *variant == word).map(|(_, names)| names);
                if let Some(names) = names
                    && let Some(arguments) = after.trim_start().strip_prefix('(')
                    && arguments.trim_start().starts_with(|c: char| c.is_ascii_digit())
                {
                    out.push_str(word);
                    out.push('(');
                    rest = arguments;
                    for name in names {
                        let trimmed = rest.trim_start();
                        if !trimmed.starts_with(|c: char| c.is_ascii_digit()) {
                            break;
                        }
                        let end = trimmed
                            .find([',', ')'])
                            .map_or(trimmed.len(), |end| if trimmed[end..].starts_with(',') { end + 1 } else { end });
                        out.push_str(name);
                        out.push_str(": ");
                        out.push_str(&trimmed[..end]);
                        out.push(' ');
                        rest = &trimmed[end..];
                    }
                    continue;
                }
                length
            }
            _ => first.len_utf8(),
        };
        out.push_str(&rest[..skipped]);
        rest = &rest[skipped..];
    }
    out
}

/// Bytes of the string literal that `text` begins with, quotes included.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (index, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return index + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}
