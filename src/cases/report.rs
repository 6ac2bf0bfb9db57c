//! What became of cases, as lines of text and as JSON records.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use serde::Serialize;

use super::contents::Contents;

/// Mismatches that are shown of a case.
const SHOWN_MISMATCHES: usize = 10;

/// What became of a case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CaseReport {
    /// The case's file.
    pub case: PathBuf,
    /// What the case is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// What it left in the resources that it can write, if it was run for that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<Contents>,
}

/// What became of a case.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum Outcome {
    /// All expectations hold.
    #[serde(rename = "ok")]
    Passed,
    /// It did not run to its end, or left something else behind than it expects.
    Failed {
        /// Why it did not run, or how many elements are wrong.
        reason: String,
        /// The first elements that are wrong.
        mismatches: Vec<Mismatch>,
    },
    /// It cannot run here.
    Skipped {
        /// Why.
        reason: String,
    },
}

impl Outcome {
    /// A case that did not run to its end.
    pub fn failed(reason: impl Into<String>) -> Self {
        Self::Failed { reason: reason.into(), mismatches: Vec::new() }
    }

    /// A case that ran to its end: it passed if there are no mismatches.
    pub fn compared(mut mismatches: Vec<Mismatch>) -> Self {
        if mismatches.is_empty() {
            return Self::Passed;
        }
        let reason = match mismatches.len() {
            1 => "1 element is wrong".to_owned(),
            count => format!("{count} elements are wrong"),
        };
        mismatches.truncate(SHOWN_MISMATCHES);
        Self::Failed { reason, mismatches }
    }
}

/// An element that is not what was expected.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mismatch {
    /// The resource; for a texture with its mip and layer.
    pub of: String,
    /// Number of the element.
    pub element: usize,
    /// What it is.
    pub got: String,
    /// What it should be.
    pub expected: String,
    /// The bits of `got`.
    pub got_bits: String,
    /// The bits of `expected`.
    pub expected_bits: String,
}

/// How many cases passed, failed and were skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Passed.
    pub passed: usize,
    /// Failed.
    pub failed: usize,
    /// Skipped.
    pub skipped: usize,
}

impl Summary {
    /// Counts a case.
    pub fn add(&mut self, report: &CaseReport) {
        match report.outcome {
            Outcome::Passed => self.passed += 1,
            Outcome::Failed { .. } => self.failed += 1,
            Outcome::Skipped { .. } => self.skipped += 1,
        }
    }
}

/// How reports are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReportFormat {
    /// Lines of text.
    #[default]
    Text,
    /// One JSON object on each line.
    Json,
}

impl ReportFormat {
    /// Writes what became of a case.
    ///
    /// # Errors
    /// The writer's.
    pub fn write_case(self, out: &mut dyn Write, report: &CaseReport) -> io::Result<()> {
        if self == Self::Json {
            serde_json::to_writer(&mut *out, report)?;
            return writeln!(out);
        }
        let case = report.case.display();
        match &report.outcome {
            Outcome::Passed => {
                writeln!(out, "ok       {case}")?;
                report.results.iter().try_for_each(|contents| writeln!(out, "    {contents}"))
            }
            Outcome::Skipped { reason } => writeln!(out, "skipped  {case}: {reason}"),
            Outcome::Failed { reason, mismatches } => {
                let about = report.about.as_deref().map(|about| format!(" ({about})")).unwrap_or_default();
                writeln!(out, "FAILED   {case}{about}: {reason}")?;
                for Mismatch { of, element, got, expected, got_bits, expected_bits } in mismatches {
                    writeln!(
                        out,
                        "    {of}[{element}]: got {got} ({got_bits}), expected {expected} ({expected_bits})"
                    )?;
                }
                Ok(())
            }
        }
    }

    /// Writes the last line.
    ///
    /// # Errors
    /// The writer's.
    pub fn write_summary(self, out: &mut dyn Write, summary: Summary) -> io::Result<()> {
        if self == Self::Json {
            serde_json::to_writer(&mut *out, &summary)?;
            return writeln!(out);
        }
        writeln!(out, "{} passed, {} failed, {} skipped", summary.passed, summary.failed, summary.skipped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mismatch(element: usize) -> Mismatch {
        Mismatch {
            of: "Out".into(),
            element,
            got: "1".into(),
            expected: "2".into(),
            got_bits: "0x00000001".into(),
            expected_bits: "0x00000002".into(),
        }
    }

    #[test]
    fn text() {
        let mut out = Vec::new();
        let reports = [
            Outcome::Passed,
            Outcome::compared((0..12).map(mismatch).collect()),
            Outcome::Skipped { reason: "no such feature".into() },
        ];
        let mut summary = Summary::default();
        for outcome in reports {
            let report =
                CaseReport { case: "a.dxcase.ron".into(), about: Some("adding".into()), outcome, results: vec![] };
            ReportFormat::Text.write_case(&mut out, &report).unwrap();
            summary.add(&report);
        }
        ReportFormat::Text.write_summary(&mut out, summary).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines = text.lines().collect::<Vec<_>>();
        assert_eq!(lines[0], "ok       a.dxcase.ron");
        assert_eq!(lines[1], "FAILED   a.dxcase.ron (adding): 12 elements are wrong");
        assert_eq!(lines[2], "    Out[0]: got 1 (0x00000001), expected 2 (0x00000002)");
        assert_eq!(lines[12], "skipped  a.dxcase.ron: no such feature");
        assert_eq!(lines[13], "1 passed, 1 failed, 1 skipped");
    }

    #[test]
    fn json() {
        let mut out = Vec::new();
        let report = CaseReport {
            case: "a.dxcase.ron".into(),
            about: None,
            outcome: Outcome::Skipped { reason: "no such feature".into() },
            results: vec![],
        };
        ReportFormat::Json.write_case(&mut out, &report).unwrap();
        let record: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(record["status"], "skipped");
        assert_eq!(record["reason"], "no such feature");
    }
}
