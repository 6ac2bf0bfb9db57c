//! Runs cases, one after the other, on one device.

use std::{
    any::Any,
    cell::Cell,
    io::{self, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use super::{
    compare::compare,
    contents::{Contents, contents},
    device::{Gpu, Halt},
    format::{Case, Expectation, Shader, Step, Steps},
    pipeline::{Context, OPTIONAL_TYPES},
    report::{CaseReport, Outcome, ReportFormat, Summary},
    resources::Resources,
};

/// Runs cases. It keeps one device for all of them, and opens another when a case loses it.
pub struct Runner {
    gpu: Result<Gpu, String>,
}

impl Runner {
    /// Opens the device that wgpu finds first (`VK_DRIVER_FILES`, `WGPU_BACKEND` and the like choose another), with all
    /// its features.
    ///
    /// # Errors
    /// There is no device, for the reason given.
    pub fn new() -> Result<Self, String> {
        Ok(Self { gpu: Ok(Gpu::new()?) })
    }

    /// Name of the device and of its driver.
    pub fn device(&self) -> String {
        match &self.gpu {
            Ok(gpu) => format!("{}, {} {}", gpu.info.name, gpu.info.driver, gpu.info.driver_info),
            Err(reason) => reason.clone(),
        }
    }

    /// Runs the case of a file. Whatever is wrong with it, or goes wrong with it, is in the report.
    pub fn run_file(&mut self, path: &Path) -> CaseReport {
        report(path, |case, folder| (self.run(case, folder), Vec::new()))
    }

    /// Runs the case of a file for what it writes, whatever it expects. The report has no mismatches, but results.
    pub fn run_file_for_results(&mut self, path: &Path) -> CaseReport {
        report(path, |case, folder| match self.results(case, folder) {
            Ok(results) => (Outcome::Passed, results),
            Err(outcome) => (outcome, Vec::new()),
        })
    }

    /// Runs a case, whose file names start from `folder`. If its shaders use number types that not every device has, it
    /// runs twice: with the device's own ([`NumberTypes::Native`]), and as on a device without them.
    pub fn run(&mut self, case: &Case, folder: &Path) -> Outcome {
        let (native, optional_types) = self.run_once(case, folder, NumberTypes::Native);
        if native != Outcome::Passed || !optional_types || case.requires.iter().any(|name| keeps_types(name)) {
            return native;
        }
        match self.run_once(case, folder, NumberTypes::Lowered).0 {
            Outcome::Failed { reason, mismatches } => {
                Outcome::Failed { reason: format!("without 16- and 64-bit types: {reason}"), mismatches }
            }
            outcome => outcome,
        }
    }

    /// Runs a case with number types of one sort. Also tells whether that makes a difference.
    pub fn run_once(&mut self, case: &Case, folder: &Path, types: NumberTypes) -> (Outcome, bool) {
        let optional_types = Cell::new(false);
        let found = self.on_device(|gpu| {
            if case.expect.is_empty() {
                return Err("it expects nothing".into());
            }
            let resources = run_case(gpu, case, folder, types, &optional_types)?;
            mismatches(gpu, case, &resources)
        });
        (found.map_or_else(|outcome| outcome, Outcome::compared), optional_types.get())
    }

    /// What a case, whose file names start from `folder`, leaves in all that it can write, with the device's own number
    /// types. What the case expects is not looked at.
    ///
    /// # Errors
    /// The case fails before its end, or is skipped.
    pub fn results(&mut self, case: &Case, folder: &Path) -> Result<Vec<Contents>, Outcome> {
        self.on_device(|gpu| {
            let resources = run_case(gpu, case, folder, NumberTypes::Native, &Cell::new(false))?;
            contents(gpu, case, &resources)
        })
    }

    /// Does the work of a case on the device. If the device is lost, another one is opened for the next case.
    fn on_device<T>(&mut self, work: impl FnOnce(&Gpu) -> Result<T, Halt>) -> Result<T, Outcome> {
        let gpu = self.gpu.as_ref().map_err(|reason| Outcome::failed(format!("no device: {reason}")))?;
        // A panic of the lift, of naga or of wgpu is a failure of this case, not the end of the run.
        let result = catch_unwind(AssertUnwindSafe(|| gpu.checked(|| work(gpu))));
        let (outcome, lost) = match result {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(Halt::Failed(reason))) => (Outcome::failed(reason), false),
            Ok(Err(Halt::Skipped(reason))) => (Outcome::Skipped { reason }, false),
            Ok(Err(Halt::Lost(reason))) => (Outcome::failed(reason), true),
            Err(panic) => (Outcome::failed(format!("panicked: {}", panic_text(&*panic))), true),
        };
        if lost {
            self.gpu = Gpu::new();
        }
        Err(outcome)
    }
}

/// The report of a case in a file, which `run` runs from the file's folder.
fn report(path: &Path, run: impl FnOnce(&Case, &Path) -> (Outcome, Vec<Contents>)) -> CaseReport {
    let case = std::fs::read_to_string(path)
        .map_err(|error| error.to_string())
        .and_then(|text| Case::parse(&text).map_err(|error| error.to_string()));
    let (about, (outcome, results)) = match case {
        Ok(case) => {
            let ran = run(&case, path.parent().unwrap_or(Path::new("")));
            (case.about, ran)
        }
        Err(reason) => (None, (Outcome::failed(reason), Vec::new())),
    };
    CaseReport { case: path.to_owned(), about, outcome, results }
}

/// Where 16-bit floats, 64-bit floats and 64-bit integers come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberTypes {
    /// The device's, as far as it has them.
    Native,
    /// The lift lowers them, as for a device that has none.
    Lowered,
}

/// Features of number types that the lift lowers where a device lacks them: no case is skipped for want of these.
const LOWERED: [&str; 3] = ["SHADER_F16", "SHADER_F64", "SHADER_INT64"];

/// A case that requires the feature cannot do without native types: there are no 64-bit atomics of words.
fn keeps_types(feature: &str) -> bool {
    feature.contains("INT64_ATOMIC")
}

/// What cases are run for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// Whether they write what they expect.
    #[default]
    Expectations,
    /// What they write.
    Results,
}

/// Runs the cases of files, in order, and writes a line for each and a last one.
///
/// # Errors
/// There is no device, or `out` fails.
pub fn run_files(
    paths: &[PathBuf],
    purpose: Purpose,
    format: ReportFormat,
    out: &mut dyn Write,
) -> io::Result<Summary> {
    let mut runner = Runner::new().map_err(io::Error::other)?;
    let mut summary = Summary::default();
    for path in paths {
        let report = match purpose {
            Purpose::Expectations => runner.run_file(path),
            Purpose::Results => runner.run_file_for_results(path),
        };
        format.write_case(out, &report)?;
        summary.add(&report);
    }
    format.write_summary(out, summary)?;
    Ok(summary)
}

/// Skips a case that the device lacks something for.
fn check_requirements(gpu: &Gpu, case: &Case) -> Result<(), Halt> {
    for name in &case.requires {
        let feature = wgpu::Features::from_name(name).ok_or_else(|| format!("wgpu has no feature {name}"))?;
        if !gpu.features().contains(feature) && !LOWERED.contains(&name.as_str()) {
            return Err(Halt::Skipped(format!("the device lacks {name}")));
        }
    }
    let lanes = (gpu.info.subgroup_min_size, gpu.info.subgroup_max_size);
    match case.wave {
        Some(wave) if lanes != (wave, wave) => {
            Err(Halt::Skipped(format!("the device's subgroups have {} to {} lanes, not {wave}", lanes.0, lanes.1)))
        }
        _ => Ok(()),
    }
}

/// Runs all steps, and gives the resources as they are then.
fn run_case<'a>(
    gpu: &Gpu,
    case: &'a Case,
    folder: &Path,
    types: NumberTypes,
    optional_types: &Cell<bool>,
) -> Result<Resources<'a>, Halt> {
    check_requirements(gpu, case)?;
    let resources = Resources::new(gpu, case)?;
    let capabilities = match types {
        NumberTypes::Native => gpu.capabilities,
        NumberTypes::Lowered => gpu.capabilities - OPTIONAL_TYPES,
    };
    let context = Context { gpu, case, resources: &resources, folder, capabilities, optional_types };
    run_steps(&context, &case.shaders, &case.run)?;
    Ok(resources)
}

/// The elements that are not as a case expects.
fn mismatches(gpu: &Gpu, case: &Case, resources: &Resources<'_>) -> Result<Vec<super::Mismatch>, Halt> {
    let mut mismatches = Vec::new();
    for expectation in &case.expect {
        let Expectation { of, mip, layer, sample, .. } = expectation;
        let (bytes, ty) = resources.read(gpu, of, *mip, *layer, *sample)?;
        let found = compare(expectation, ty, &bytes).map_err(|error| format!("{}: {error}", expectation.of))?;
        mismatches.extend(found);
    }
    Ok(mismatches)
}

fn run_steps(context: &Context<'_>, shaders: &[Shader], steps: &Steps) -> Result<(), Halt> {
    for step in &steps.0 {
        match step {
            Step::Dispatch(x, y, z) => context.dispatch(shaders, [*x, *y, *z])?,
            Step::Draw(draw) => context.draw(shaders, draw)?,
            Step::DrawMesh(draw) => context.draw_mesh(shaders, draw)?,
            Step::Rays(_) => return Err(Halt::Skipped("ray tracing pipelines".into())),
            Step::With(with) => run_steps(context, &with.shaders, &with.run)?,
        }
    }
    Ok(())
}

/// What a panic says.
fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    text.unwrap_or("without a message")
}
