//! Reads the `listings.txt` of the fixtures' folders, which `tests/fixtures/listings.py` writes and describes.

use std::{collections::BTreeMap, fmt, fs, path::PathBuf};

/// What the compiler says of one container.
pub struct Listing {
    /// Folder and file, for messages.
    pub label: String,
    /// The container.
    pub bytes: Vec<u8>,
    pub records: Vec<Record>,
}

/// One line, with the lines indented below it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    pub kind: String,
    pub name: String,
    /// Values that are not 0, as the listing spells them.
    pub values: BTreeMap<String, String>,
    pub fields: Vec<Record>,
}

impl Record {
    pub fn new(kind: &str, name: impl Into<String>) -> Self {
        Self { kind: kind.into(), name: name.into(), ..Self::default() }
    }

    /// Sets a value; 0 and nothing are left out, as in the listings.
    pub fn with(mut self, key: &str, value: impl fmt::Display) -> Self {
        self.set(key, value);
        self
    }

    pub fn set(&mut self, key: &str, value: impl fmt::Display) {
        let value = value.to_string();
        if value.is_empty() || value == "0" {
            self.values.remove(key);
        } else {
            self.values.insert(key.into(), value);
        }
    }

    pub fn number(&self, key: &str) -> u32 {
        self.values.get(key).map_or(0, |value| value.parse().unwrap())
    }

    pub fn take(&mut self, key: &str) -> Option<String> {
        self.values.remove(key)
    }

    fn read(line: &str) -> Self {
        let mut words = line.split_whitespace();
        let mut record = Self::new(words.next().unwrap(), "");
        for word in words {
            match word.split_once('=') {
                Some((key, value)) => {
                    record.values.insert(key.into(), value.into());
                }
                None if record.name.is_empty() => record.name = word.into(),
                None => record.name = format!("{} {word}", record.name),
            }
        }
        record
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.name)?;
        self.values.iter().try_for_each(|(key, value)| write!(f, " {key}={value}"))?;
        if !self.fields.is_empty() {
            f.write_str(" {")?;
            self.fields.iter().try_for_each(|field| write!(f, " {field};"))?;
            f.write_str(" }")?;
        }
        Ok(())
    }
}

/// All listings of all folders, without those of shaders that were built anew since. `$LISTINGS` names another folder of
/// such folders, for a look at other shaders.
pub fn all() -> Vec<Listing> {
    let fixtures = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let root = std::env::var_os("LISTINGS").map_or_else(fixtures, PathBuf::from);
    let mut folders = fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    folders.sort();
    let mut listings = Vec::new();
    for folder in folders {
        let Ok(text) = fs::read_to_string(folder.join("listings.txt")) else { continue };
        let folder_name = folder.file_name().unwrap().to_str().unwrap();
        for section in text.split("== ").skip(1) {
            let (title, body) = section.split_once('\n').unwrap();
            let (file, digest) = title.split_once(' ').unwrap();
            let label = format!("{folder_name}/{file}");
            let bytes = fs::read(folder.join(file)).unwrap_or_default();
            let found = bytes.iter().skip(4).take(16).map(|byte| format!("{byte:02x}")).collect::<String>();
            if digest != found {
                eprintln!("{label}: the listing is of another build; run tests/fixtures/listings.py {folder_name}");
                continue;
            }
            listings.push(Listing { label, bytes, records: records(body) });
        }
    }
    listings
}

fn records(body: &str) -> Vec<Record> {
    let mut found = Vec::new();
    for line in body.lines().filter(|line| !line.is_empty()) {
        let depth = (line.len() - line.trim_start().len()) / 2;
        let mut list = &mut found;
        for _ in 0..depth {
            let parent: &mut Record = list.last_mut().unwrap();
            list = &mut parent.fields;
        }
        list.push(Record::read(line));
    }
    found
}
