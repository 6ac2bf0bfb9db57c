//! How close the modules of real programs are to what a person would write: bitcasts and local variables.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use naga::Expression;

use crate::{LiftOptions, Program, Target, container::Container, dxbc, lift, reflection::Stage};

/// What was counted.
#[derive(Debug, Default)]
struct Measures {
    programs: usize,
    /// Of the tokens.
    instructions: usize,
    bitcasts: usize,
    /// Of the intermediate representation: values that edges hand on, round loops and behind branches.
    handed_on: usize,
    /// Local variables that have no name: what edges hand on, and results of guarded accesses.
    unnamed: usize,
    /// Names of local variables that are for nothing known.
    unknown: BTreeSet<String>,
}

/// What a local variable may be for, by its name: an element of a signature that is put together or indexed, registers that
/// are indexed (`x#`, `v#`), whether a lane is not discarded, a jump out of several constructs, an index into the state
/// of a stage.
fn is_known(name: &str, program: &Program) -> bool {
    let entry = &program.interface.entry_points[0];
    let elements = entry.inputs.iter().chain(&entry.outputs).chain(&entry.patch_constants);
    let variables = program.ir.variables.iter().map(|variable| variable.name.as_str());
    let mut known =
        elements.map(|element| element.semantic.as_str()).chain(variables).chain(["alive", "flag_", "stage_index"]);
    known.any(|known| name.starts_with(known))
}

impl Measures {
    fn add(&mut self, bytes: &[u8], program: &Program) -> crate::Result<()> {
        let module = program.module(&Target::default())?;
        let container = Container::parse(bytes)?;
        let tokens = dxbc::decode(dxbc::program_part(&container)?.data)?;
        self.programs += 1;
        self.instructions += tokens.phases.iter().map(|phase| phase.instructions.len()).sum::<usize>();
        for function in &program.ir.functions {
            let params = function.blocks.iter().skip(1).map(|block| block.params.len());
            self.handed_on += params.sum::<usize>();
        }
        let functions = module.functions.iter().map(|(_, function)| function);
        for function in functions.chain(module.entry_points.iter().map(|entry| &entry.function)) {
            let bitcast = |expression: &Expression| matches!(expression, Expression::As { convert: None, .. });
            self.bitcasts += function.expressions.iter().filter(|(_, expression)| bitcast(expression)).count();
            for (_, local) in function.local_variables.iter() {
                match &local.name {
                    None => self.unnamed += 1,
                    Some(name) if is_known(name, program) => {}
                    Some(name) => {
                        self.unknown.insert(name.clone());
                    }
                }
            }
        }
        Ok(())
    }
}

/// Programs of the corpus, about so many, evenly chosen; none without the corpus.
fn programs(count: usize) -> Vec<PathBuf> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    let mut found = Vec::new();
    for folder in fs::read_dir(corpus).into_iter().flatten().flatten() {
        let files = fs::read_dir(folder.path()).into_iter().flatten().flatten();
        found.extend(files.map(|file| file.path()).filter(|path| path.extension().is_some_and(|it| it == "dxbc")));
    }
    found.sort();
    let step = (found.len() / count).max(1);
    found.into_iter().step_by(step).take(count).collect()
}

#[test]
fn modules_are_typed_and_have_few_locals() {
    let files = programs(500);
    if files.is_empty() {
        eprintln!("skipped: there is no corpus");
        return;
    }
    let mut measures = Measures::default();
    for path in &files {
        let bytes = fs::read(path).unwrap();
        // Files without a program are in the corpus too, and libraries, whose functions are containers.
        let Ok(program) = lift(&bytes, &LiftOptions::default()) else { continue };
        if program.interface.stage == Stage::Library {
            continue;
        }
        measures.add(&bytes, &program).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    eprintln!("{measures:#?}");
    assert!(measures.programs * 100 >= files.len() * 95, "{measures:#?}");
    // 0.076 of each instruction when this was written.
    assert!(measures.bitcasts * 100 <= measures.instructions * 15, "bitcasts: {measures:#?}");
    assert!(measures.unknown.is_empty(), "local variables: {:?}", measures.unknown);
    let others = measures.unnamed.saturating_sub(measures.handed_on);
    assert!(others * 20 <= measures.handed_on, "local variables: {measures:#?}");
}
