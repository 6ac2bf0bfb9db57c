//! Counts and tables.

use std::{
    collections::BTreeMap,
    fmt::{self, Write as _},
    path::PathBuf,
    time::Duration,
};

use super::{Checked, Status, Verdict};
use crate::{cli::Outcome, reflection::Format};

/// How many of a set of files came how far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All.
    pub files: usize,
    /// Containers.
    pub read: usize,
    /// Reflected.
    pub reflected: usize,
    /// Lifted.
    pub lifted: usize,
    /// Valid.
    pub valid: usize,
    /// Panicked.
    pub panicked: usize,
}

impl Counts {
    fn add(&mut self, verdict: &Verdict) {
        self.files += 1;
        self.read += usize::from(verdict.read);
        self.reflected += usize::from(verdict.reflected);
        self.lifted += usize::from(verdict.lifted);
        self.valid += usize::from(verdict.status == Status::Valid);
        self.panicked += usize::from(verdict.status == Status::Panicked);
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { files, read, reflected, lifted, valid, panicked } = self;
        write!(
            f,
            "{files} files: {read} read, {reflected} reflected, {lifted} lifted, {valid} valid, {panicked} panicked"
        )
    }
}

/// What a check found. Displayed, it ends with the line of all counts.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// All files.
    pub total: Counts,
    /// DXBC programs.
    pub dxbc: Counts,
    /// DXIL programs.
    pub dxil: Counts,
    /// For each reason that stopped files: how many, and the first.
    reasons: BTreeMap<(Status, String), (usize, PathBuf)>,
    /// The files that took longest to lift and validate, the slowest first: [`SLOWEST`] at most.
    slowest: Vec<(Duration, PathBuf)>,
}

/// Files that a report names because they took longest.
const SLOWEST: usize = 3;

impl Report {
    /// Counts.
    pub fn new(checked: &[Checked]) -> Self {
        let mut report = Self::default();
        for Checked { path, verdict } in checked {
            report.total.add(verdict);
            match verdict.format {
                Some(Format::Dxbc) => report.dxbc.add(verdict),
                Some(Format::Dxil) => report.dxil.add(verdict),
                None => {}
            }
            if verdict.status != Status::Valid {
                let key = (verdict.status, verdict.group.clone());
                report.reasons.entry(key).or_insert_with(|| (0, path.clone())).0 += 1;
            }
        }
        let mut order: Vec<_> = checked.iter().map(|file| (file.verdict.time(), &file.path)).collect();
        order.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
        report.slowest = order.into_iter().take(SLOWEST).map(|(time, path)| (time, path.clone())).collect();
        report
    }

    /// How the check ended: well if every file that holds a program is valid.
    pub fn outcome(&self) -> Outcome {
        if self.total.panicked > 0 {
            Outcome::Panicked
        } else if self.reasons.keys().any(|(status, _)| *status != Status::NotAProgram) {
            Outcome::Failed
        } else {
            Outcome::Success
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut reasons = self.reasons.iter().collect::<Vec<_>>();
        reasons.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
        for ((status, group), (count, first)) in reasons {
            writeln!(f, "{count:6} {}: {group}", status.name())?;
            writeln!(f, "       such as {}", first.display())?;
        }
        for (time, path) in &self.slowest {
            writeln!(f, "{:6} ms: {}", time.as_millis(), path.display())?;
        }
        for (name, counts) in [("DXBC", &self.dxbc), ("DXIL", &self.dxil)] {
            if counts.files > 0 {
                writeln!(f, "{name}: {counts}")?;
            }
        }
        writeln!(f, "{}", self.total)
    }
}

/// A row for each file, under a row of names, separated by tabs. Values that are not known are `-`.
pub fn tsv(checked: &[Checked]) -> String {
    let mut out = "path\tstatus\tstage\tmodel\tread_us\tlift_us\tvalidate_us\tspirv_bytes\treason\n".to_owned();
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".into());
    let clean = |text: &str| {
        let text = text.replace(['\t', '\n', '\r'], " ");
        if text.is_empty() { "-".to_owned() } else { text }
    };
    for Checked { path, verdict } in checked {
        // Writing to a string does not fail.
        let _ = writeln!(
            out,
            "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
            clean(&path.to_string_lossy()),
            verdict.status.name(),
            verdict.stage.map_or("-", |stage| stage.profile()),
            or_dash(verdict.model.map(|model| model.to_string())),
            verdict.read_time.as_micros(),
            verdict.lift_time.as_micros(),
            verdict.validate_time.as_micros(),
            verdict.spirv_bytes,
            clean(&verdict.reason),
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{super::judge, *};

    #[test]
    fn last_line_and_rows() {
        let root_signature = b"DXBC0000000000000000\x01\0\0\0\x20\0\0\0\0\0\0\0";
        let checked = [&b"text"[..], root_signature]
            .map(|bytes| Checked { path: "a\tb.cso".into(), verdict: judge(bytes, &crate::Target::default()) });
        let report = Report::new(&checked);
        let text = report.to_string();
        let last = text.lines().last().unwrap();
        assert_eq!(last, "2 files: 1 read, 0 reflected, 0 lifted, 0 valid, 0 panicked");
        assert_eq!(report.outcome(), Outcome::Failed, "one is unreadable");
        assert_eq!(text.lines().filter(|line| line.contains(" ms: a\tb.cso")).count(), 2);
        assert_eq!(Report::new(&checked[1..]).outcome(), Outcome::Success, "no program is no failure");

        let table = tsv(&checked);
        let mut rows = table.lines().map(|line| line.split('\t').collect::<Vec<_>>());
        let names = "path status stage model read_us lift_us validate_us spirv_bytes reason";
        assert_eq!(rows.next().unwrap().join(" "), names);
        let row = rows.next().unwrap();
        assert_eq!((row.len(), &row[..4]), (9, &["a b.cso", "unreadable", "-", "-"][..]));
        assert_eq!(rows.next().unwrap()[1], "not-a-program");
    }
}
