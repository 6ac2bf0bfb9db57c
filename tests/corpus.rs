//! How many of the real shaders of a corpus read, reflect, lift and validate. The corpus is a folder beside the
//! repository, and not part of it: without it the test says so and passes.

use std::path::Path;

use bevy_dxshader::{
    Target,
    cli::check::{Counts, Report, check, find},
};

/// How many of a thousand files must be reflected, and of a thousand of these be lifted and valid. It is raised as the lifter
/// learns, and never lowered.
struct Floor {
    reflected: usize,
    lifted: usize,
    valid: usize,
}

const DXBC: Floor = Floor { reflected: 986, lifted: 1000, valid: 1000 };
const DXIL: Floor = Floor { reflected: 998, lifted: 994, valid: 994 };

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
    for (what, part, whole, least) in [
        ("reflected", counts.reflected, counts.files, floor.reflected),
        ("lifted", counts.lifted, counts.reflected, floor.lifted),
        ("valid", counts.valid, counts.reflected, floor.valid),
    ] {
        assert!(part * 1000 >= whole * least, "{name}: {part} of {whole} {what}: fewer than {least} of a thousand");
    }
}
