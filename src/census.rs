//! The shaders that the project's cases run: what the tables of `docs/coverage.md` count value cases by.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use crate::cases::format::{Case, Shader, ShaderStage, Step};

/// A compiled shader of which some case checks the results.
pub struct CaseShader {
    /// The file.
    pub path: PathBuf,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The entry point that is run, for libraries.
    pub entry: Option<String>,
    /// Number of cases that run it.
    pub cases: usize,
}

/// The shaders that cases under `tests/fixtures` run, whose files end in `extension`, in the order of their paths.
pub fn shaders(extension: &str) -> Vec<CaseShader> {
    let mut paths = Vec::new();
    find(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures"), &mut paths);
    assert!(!paths.is_empty(), "there are no cases");
    let mut runs = BTreeMap::<(PathBuf, Option<String>), usize>::new();
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let case = Case::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut run = Vec::new();
        for step in &case.run.0 {
            executed(&case.shaders, step, &mut run);
        }
        let file = |shader: &Shader| (path.with_file_name(&shader.file), shader.entry.clone());
        let mut files = run.into_iter().map(file).collect::<Vec<_>>();
        files.sort();
        files.dedup();
        for file in files.into_iter().filter(|(path, _)| path.extension().is_some_and(|found| found == extension)) {
            *runs.entry(file).or_default() += 1;
        }
    }
    let read = |((path, entry), cases): ((PathBuf, _), _)| {
        let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        CaseShader { path, bytes, entry, cases }
    };
    runs.into_iter().map(read).collect()
}

/// The shaders that the runner runs in a step; none of a step that it skips everywhere.
fn executed<'a>(shaders: &'a [Shader], step: &'a Step, run: &mut Vec<&'a Shader>) {
    use ShaderStage::{Amplification, Compute, Domain, Geometry, Hull, Library, Mesh, Pixel, Vertex};
    let stages: &[ShaderStage] = match step {
        Step::Dispatch(..) => &[Compute, Library, Hull, Domain, Geometry],
        Step::Draw(_) => &[Vertex, Pixel],
        Step::DrawMesh(_) => &[Amplification, Mesh, Pixel],
        Step::Rays(_) => &[],
        Step::With(with) => return with.run.0.iter().for_each(|step| executed(&with.shaders, step, run)),
    };
    if shaders.iter().all(|shader| stages.contains(&shader.stage)) {
        run.extend(shaders);
    }
}

fn find(folder: &Path, cases: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            find(&path, cases);
        } else if path.to_string_lossy().ends_with(".dxcase.ron") {
            cases.push(path);
        }
    }
}
