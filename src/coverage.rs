//! `docs/coverage.md` says what the tables of the sources say.

use std::{env, fs, path::Path};

/// The text with what stands between the marks of a name replaced.
fn with_section(text: &str, name: &str, section: &str) -> String {
    let (begin, end) = (format!("<!-- begin {name} -->\n"), format!("<!-- end {name} -->\n"));
    let (before, rest) = text.split_once(&begin).unwrap_or_else(|| panic!("no mark: {begin}"));
    let (_, after) = rest.split_once(&end).unwrap_or_else(|| panic!("no mark: {end}"));
    format!("{before}{begin}{section}{end}{after}")
}

/// The text without the numbers of cases, the last column of tables that begin with a number or a name in code: these may be of an earlier day,
/// or else every new case would have to be followed by a new document.
fn without_cases(text: &str) -> String {
    let mut counted = false;
    let mut kept = String::new();
    for line in text.lines() {
        counted = line.starts_with('|') && (counted || line.ends_with("| Cases |"));
        let end = if counted { line.trim_end_matches('|').rfind('|') } else { None };
        kept += &line[..end.unwrap_or(line.len())];
        kept.push('\n');
    }
    kept
}

#[test]
fn document_is_what_the_tables_give() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/coverage.md");
    let found = fs::read_to_string(&path).unwrap();
    let wanted = with_section(&found, "dxil", &crate::dxil::coverage_markdown());
    let wanted = with_section(&wanted, "dxbc", &crate::dxbc::coverage_markdown());
    if env::var_os("UPDATE_COVERAGE").is_some() {
        fs::write(&path, &wanted).unwrap();
        return;
    }
    let (found, wanted) = (without_cases(&found), without_cases(&wanted));
    if let Some((found, wanted)) = found.lines().zip(wanted.lines()).find(|(found, wanted)| found != wanted) {
        eprintln!("found:  {found}\nwanted: {wanted}");
    }
    assert!(
        found == wanted,
        "docs/coverage.md is not what the tables give. To write it anew: \
         UPDATE_COVERAGE=1 cargo test --no-default-features --lib coverage"
    );
}
