//! Runs every execution case under `tests/fixtures` on the driver that wgpu finds.
//!
//! What the shaders must write is worked out beside each case, from what the HLSL means in Direct3D; see `docs/cases.md`.

use std::{
    io,
    path::{Path, PathBuf},
    process::Command,
};

use bevy_dxshader::cases::{Outcome, ReportFormat, Runner, Summary};

/// All cases below a folder, in the order of their names.
fn find_cases(folder: &Path, cases: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    for path in entries {
        if path.is_dir() {
            find_cases(&path, cases)?;
        } else if path.to_string_lossy().ends_with(".dxcase.ron") {
            cases.push(path);
        }
    }
    Ok(())
}

/// Whether this machine should have a device: on Linux, if there is a Vulkan driver; elsewhere always.
fn device_expected() -> bool {
    if !cfg!(target_os = "linux") {
        return true;
    }
    let named = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES"];
    let folders = ["/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/etc/vulkan/icd.d"];
    let has_files = |folder: &&str| std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    named.iter().any(|name| std::env::var_os(name).is_some()) || folders.iter().any(has_files)
}

/// Mesa's software driver has subgroups of eight lanes, or of four if it is told to take narrower vectors. Instances read that from the environment,
/// so the cases run in a process of their own. (Its cache does not tell code of one width from that of the other.)
#[test]
fn cases_in_waves_of_four_lanes() {
    match Runner::new() {
        Ok(runner) if runner.device().contains("llvmpipe") => {}
        Ok(runner) => return println!("skipped: how wide its subgroups are cannot be told to {}", runner.device()),
        Err(_) => return println!("skipped: there is no device, as the other test says"),
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "cases", "--nocapture"])
        .envs([("LP_NATIVE_VECTOR_WIDTH", "128"), ("MESA_SHADER_CACHE_DISABLE", "true")])
        .output()
        .unwrap();
    print!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(
        output.status.success(),
        "in waves of four lanes: {}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn cases() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut cases = Vec::new();
    find_cases(&root.join("tests/fixtures"), &mut cases).unwrap();
    assert!(!cases.is_empty(), "there are no cases");
    let mut runner = match Runner::new() {
        Ok(runner) => runner,
        Err(reason) if device_expected() => panic!("no device: {reason}"),
        Err(reason) => {
            println!("skipped {} cases: this machine has no GPU and no Vulkan driver: {reason}", cases.len());
            return;
        }
    };
    println!("on {}", runner.device());
    let mut summary = Summary::default();
    for case in cases {
        let mut report = runner.run_file(&case);
        report.case = case.strip_prefix(root).map_or(case.clone(), Path::to_owned);
        summary.add(&report);
        if report.outcome != Outcome::Passed {
            ReportFormat::Text.write_case(&mut io::stdout(), &report).unwrap();
        }
    }
    ReportFormat::Text.write_summary(&mut io::stdout(), summary).unwrap();
    assert_eq!(summary.failed, 0, "cases failed");
    assert!(summary.passed > 0, "no case ran");
}
