//! How many of the real shaders of a corpus read, reflect, lift and validate. The corpus is a folder beside the
//! repository, and not part of it: without it the test says so and passes.

use std::path::Path;

use bevy_dxshader::{
    Target,
    cli::check::{Counts, Report, check, find},
};

/// How many of a hundred programs must come how far. It is raised as the lifter learns, and never lowered.
struct Floor {
    reflected: usize,
    lifted: usize,
    valid: usize,
}

const DXBC: Floor = Floor { reflected: 98, lifted: 98, valid: 98 };
const DXIL: Floor = Floor { reflected: 98, lifted: 97, valid: 97 };

#[test]
fn corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    if !folder.is_dir() {
        eprintln!("skipped: there is no corpus at {}", folder.display());
        return;
    }
    let files = find(&[folder]).unwrap();
    let checked = check(&files, 0, &Target::default()).unwrap();
    let report = Report::new(&checked);
    println!("{report}");

    assert_eq!(report.total.panicked, 0, "panics");
    assert_floor("DXBC", &report.dxbc, &DXBC);
    assert_floor("DXIL", &report.dxil, &DXIL);
}

fn assert_floor(name: &str, counts: &Counts, floor: &Floor) {
    assert!(counts.files > 0, "no {name} in the corpus");
    let percent = |part: usize| part * 100 / counts.files;
    for (what, part, least) in [
        ("reflected", counts.reflected, floor.reflected),
        ("lifted", counts.lifted, floor.lifted),
        ("valid", counts.valid, floor.valid),
    ] {
        assert!(percent(part) >= least, "{name}: {part} of {} {what}: fewer than {least}%", counts.files);
    }
}
