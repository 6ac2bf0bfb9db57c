//! The command line as a user sees it: outputs and exit codes.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

fn fixture(name: &str) -> String {
    format!("{}/tests/fixtures/reflection/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn dxshader(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dxshader")).args(arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn inspect() {
    let file = fixture("varyings.dxbc");
    let output = dxshader(&["inspect", "--format", "json", &file]);
    assert_eq!(output.status.code(), Some(0));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let part = json["parts"][1].as_object().unwrap();
    assert_eq!(part["name"], "ISGN");
    let (offset, size) = (part["offset"].as_u64().unwrap() as usize, part["size"].as_u64().unwrap() as usize);
    assert_eq!(&fs::read(&file).unwrap()[offset - 8..offset - 4], b"ISGN");
    assert!(size > 24);
    assert_eq!((json["stage"].as_str(), json["model"].as_str()), (Some("vs"), Some("5.0")));

    assert!(stdout(&dxshader(&["inspect", &file])).starts_with("vs_5_0, "));
    assert!(stdout(&dxshader(&["inspect", "--format", "ron", &file])).contains("semantic: \"BLENDINDICES\""));
}

#[test]
fn lift() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["depth.dxbc", "depth.dxil"] {
        let file = fixture(name);
        let wgsl = stdout(&dxshader(&["lift", &file]));
        assert!(wgsl.contains("@fragment") && wgsl.contains("fn main("), "{name}: {wgsl}");

        let out = folder.path().join("out.spv");
        let out = out.to_str().unwrap();
        assert_eq!(dxshader(&["lift", &file, "--to", "spirv", "-o", out]).status.code(), Some(0), "{name}");
        assert!(fs::read(out).unwrap().starts_with(&[3, 2, 0x23, 7]), "{name}: SPIR-V's magic");

        let ir = stdout(&dxshader(&["lift", &file, "--to", "ir"]));
        bevy_dxshader::ir::text::parse(&ir).unwrap_or_else(|error| panic!("{name}: {error}\n{ir}"));
        assert!(stdout(&dxshader(&["lift", &file, "--to", "naga"])).contains("EntryPoint"), "{name}");
    }
}

#[test]
fn errors_name_the_file_and_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let shader = fs::read(fixture("depth.dxbc")).unwrap();
    for (file, reason) in [
        (place("empty.cso", b""), "the file is empty"),
        (place("text.hlsl", b"float4 main() : SV_Target { return 1; }"), "does not begin with DXBC"),
        (place("short.dxbc", &shader[..100]), "cut short"),
    ] {
        for command in ["inspect", "lift"] {
            let output = dxshader(&[command, &file]);
            assert_eq!(output.status.code(), Some(1), "{file}");
            let told = stderr(&output);
            assert!(told.contains(&file) && told.contains(reason), "{told}");
        }
    }
    let output = dxshader(&["lift", "no such file"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("no such file"));
    assert_eq!(dxshader(&["lift"]).status.code(), Some(2), "wrong usage");
    assert_eq!(dxshader(&["check", "no such folder"]).status.code(), Some(2));
}

#[test]
fn check() {
    let folder = tempfile::tempdir().unwrap();
    let deeper = folder.path().join("a/b");
    fs::create_dir_all(&deeper).unwrap();
    // Found by content, whatever they are called; text is not.
    fs::copy(fixture("depth.dxbc"), deeper.join("pixel")).unwrap();
    fs::copy(fixture("depth.dxil"), deeper.join("pixel.txt")).unwrap();
    fs::write(deeper.join("notes.dxbc"), "notes").unwrap();
    let table = folder.path().join("table.tsv");
    let run = |path: &Path, table: &Path| {
        dxshader(&["check", path.to_str().unwrap(), "--jobs", "2", "--tsv", table.to_str().unwrap()])
    };
    let output = run(folder.path(), &table);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    let last = stdout(&output).lines().last().unwrap().to_owned();
    assert_eq!(last, "2 files: 2 read, 2 reflected, 2 lifted, 2 valid, 0 panicked");
    let rows = fs::read_to_string(&table).unwrap();
    let rows = rows.lines().map(|row| row.split('\t').collect::<Vec<_>>()).collect::<Vec<_>>();
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[1][1..4], ["valid", "ps", "5.0"]);
    assert_eq!(rows[2][1..4], ["valid", "ps", "6.0"]);
    assert!(rows[1][7].parse::<usize>().unwrap() > 100 && rows[1][8] == "-", "{:?}", rows[1]);

    fs::write(deeper.join("short"), &fs::read(fixture("depth.dxbc")).unwrap()[..300]).unwrap();
    let output = run(folder.path(), &table);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).ends_with("3 files: 2 read, 2 reflected, 2 lifted, 2 valid, 0 panicked\n"));
    // A file that is named is checked whatever it holds.
    assert!(stdout(&run(&deeper.join("notes.dxbc"), &table)).contains("unreadable"));
}
