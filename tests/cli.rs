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
fn root_signatures_subobjects_and_disagreements_are_shown() {
    let text = stdout(&dxshader(&["inspect", &fixture("../container/root_signature.dxil")]));
    for line in ["parameter 3, table, range 0, descriptor 0", "root signature 1.1", "u0[] at descriptor 7"] {
        assert!(text.contains(line), "{line}:\n{text}");
    }
    let text = stdout(&dxshader(&["inspect", &fixture("../container/library.dxil")]));
    for line in [
        "in hit groups: hit_group",
        "payload at most 16 bytes, attributes at most 8 bytes",
        "association: local_signature holds for closest, missed",
        "subobjects in conflict: pipeline_config, pipeline_config1",
    ] {
        assert!(text.contains(line), "{line}:\n{text}");
    }
    // The thread group in PSV0 is another than that of the program.
    let mut bytes = fs::read(fixture("resources.dxil")).unwrap();
    let state = bytes.windows(4).position(|name| name == b"PSV0").and_then(|table| {
        let rest = bytes.windows(4).enumerate().skip(table + 1);
        rest.filter(|(_, name)| *name == b"PSV0").map(|(at, _)| at).next().or(Some(table))
    });
    let group = state.unwrap() + 8 + 4 + 36;
    bytes[group] = 77;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("changed.dxil");
    fs::write(&file, bytes).unwrap();
    let text = stdout(&dxshader(&["inspect", file.to_str().unwrap()]));
    assert!(text.contains("thread group size: DXIL says [8, 4, 2], PSV0 says [77, 4, 2]"), "{text}");
}

#[test]
fn effects_are_shown_and_their_shaders_extracted() {
    let file = fixture("../container/effect_5.fxo");
    let text = stdout(&dxshader(&["inspect", &file]));
    assert!(text.contains("version: fx_5_0") && text.contains("semantic: WorldViewProjection"), "{text}");
    let folder = tempfile::tempdir().unwrap();
    let output = dxshader(&["extract", &file, "-o", folder.path().to_str().unwrap()]);
    assert!(stdout(&output).starts_with("2 containers, "), "{}", stdout(&output));
}

#[test]
fn standard_input_is_a_file() {
    let file = fs::File::open(fixture("varyings.dxbc")).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_dxshader")).args(["inspect", "-"]).stdin(file).output().unwrap();
    assert!(stdout(&output).starts_with("vs_5_0, "));
}

#[test]
fn colors() {
    let file = fixture("varyings.dxbc");
    let shown = |arguments: &[&str], variable: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dxshader"));
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        if !variable.is_empty() {
            command.env(variable, "1");
        }
        let output = command.args(arguments).output().unwrap();
        output.stdout.contains(&0x1b) || output.stderr.contains(&0x1b)
    };
    assert!(!shown(&["inspect", &file], ""), "a pipe");
    assert!(shown(&["inspect", &file], "CLICOLOR_FORCE"));
    assert!(shown(&["inspect", &file, "--color", "always"], "NO_COLOR"));
    assert!(!shown(&["--color", "never", "inspect", &file], "CLICOLOR_FORCE"));
    assert!(shown(&["inspect", &file, "--part", "ISGN", "--color", "always"], ""));
    assert!(shown(&["inspect", "nowhere", "--color", "always"], ""), "errors too");
    for format in ["json", "ron", "yaml"] {
        assert!(!shown(&["inspect", &file, "--format", format, "--color", "always"], ""), "{format} is data");
    }
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

#[test]
fn parts_are_dumped_set_and_stripped() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (file, part, out) = (fixture("depth.dxil"), path("part"), path("out.dxil"));
    assert_eq!(dxshader(&["dump", &file, "--part", "DXIL", "-o", &part]).status.code(), Some(0));
    let contents = fs::read(&part).unwrap();
    assert_eq!(&contents[8..12], b"DXIL");
    assert_eq!(dxshader(&["dump", &file, "--part", "DXIL"]).stdout, contents);
    let output = dxshader(&["dump", &file, "--part", "RDAT"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("there is no part RDAT"));
    assert_eq!(dxshader(&["dump", &file, "--part", "RDA"]).status.code(), Some(2));

    // The same contents: the same file.
    assert_eq!(dxshader(&["set-part", &file, "DXIL", &part, "-o", &out]).status.code(), Some(0));
    assert_eq!(fs::read(&out).unwrap(), fs::read(&file).unwrap());

    fs::write(&part, "12345").unwrap();
    assert_eq!(dxshader(&["set-part", &file, "PRIV", &part, "-o", &out]).status.code(), Some(0));
    assert_eq!(dxshader(&["dump", &out, "--part", "PRIV"]).stdout, b"12345");
    let output = dxshader(&["strip", &out, "--part", "PRIV", "RDAT", "-o", &out]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("there is no part RDAT"));
    assert_eq!(fs::read(&out).unwrap(), fs::read(&file).unwrap());
}

#[test]
fn digest_is_checked_and_fixed() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.dxil");
    let out = out.to_str().unwrap();
    let mut bytes = fs::read(fixture("depth.dxil")).unwrap();
    let sound = bytes.clone();
    let run = |bytes: &[u8]| {
        fs::write(out, bytes).unwrap();
        dxshader(&["digest", out])
    };
    let output = run(&bytes);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    assert!(stdout(&output).starts_with("digest ok ") && stdout(&output).contains("\nhash ok "), "{}", stdout(&output));
    bytes[4] ^= 1;
    let output = run(&bytes);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).starts_with("digest stale "));
    assert_eq!(dxshader(&["digest", out, "--fix"]).status.code(), Some(2), "no output");
    assert_eq!(dxshader(&["digest", out, "--fix", "-o", out]).status.code(), Some(0));
    assert_eq!(fs::read(out).unwrap(), sound);
}

#[test]
fn containers_are_extracted_from_anything() {
    let folder = tempfile::tempdir().unwrap();
    let (archive, out) = (folder.path().join("archive"), folder.path().join("out"));
    let (dxbc, dxil) = (fs::read(fixture("depth.dxbc")).unwrap(), fs::read(fixture("depth.dxil")).unwrap());
    fs::write(&archive, [b"MZ DXBC", &dxbc[..], b"odd", &dxil].concat()).unwrap();
    let output = dxshader(&["extract", archive.to_str().unwrap(), "-o", out.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).starts_with("2 containers, "), "{}", stdout(&output));
    assert_eq!(fs::read(out.join("00000007.ps_5_0.dxbc")).unwrap(), dxbc);
    assert_eq!(fs::read(out.join(format!("{:08x}.ps_6_0.dxil", 10 + dxbc.len()))).unwrap(), dxil);
    assert_eq!(fs::read_dir(&out).unwrap().count(), 2);
    // Another archive with another container at the same place: neither is lost. What is there already is not written again.
    fs::write(&archive, [b"MZ DXBC", &fs::read(fixture("constants.dxbc")).unwrap()[..]].concat()).unwrap();
    for _ in 0..2 {
        dxshader(&["extract", archive.to_str().unwrap(), "-o", out.to_str().unwrap()]);
    }
    assert_eq!(fs::read(out.join("00000007.ps_5_0.dxbc")).unwrap(), dxbc);
    assert!(out.join("00000007.1.ps_5_0.dxbc").is_file());
    assert_eq!(fs::read_dir(&out).unwrap().count(), 3);
    fs::write(&archive, "nothing").unwrap();
    let output = dxshader(&["extract", archive.to_str().unwrap(), "-o", out.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn interfaces_are_compared() {
    let (a, b) = (fixture("varyings.dxbc"), fixture("depth.dxbc"));
    let output = dxshader(&["diff", &a, &a]);
    assert_eq!((output.status.code(), stdout(&output)), (Some(0), String::new()));
    let output = dxshader(&["diff", &a, &b]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("~ entry_points[main].stage: \"Vertex\" -> \"Pixel\"\n"), "{}", stdout(&output));
    let json: serde_json::Value = serde_json::from_slice(&dxshader(&["diff", &a, &b, "--json"]).stdout).unwrap();
    assert!(json.as_array().unwrap().iter().any(|change| change["path"] == "entry_points[main].stage"));
    assert_eq!(dxshader(&["diff", &a, "/nowhere"]).status.code(), Some(2));
}

#[test]
fn parts_are_shown() {
    let file = |name: &str| format!("{}/tests/fixtures/container/{name}", env!("CARGO_MANIFEST_DIR"));
    let output = dxshader(&["inspect", "--part", "RTS0", &file("root_signature.dxil")]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stdout(&output).contains("flags: AllowInputAssemblerInputLayout, DenyHullShaderRootAccess\n"));
    let json = dxshader(&["inspect", "--part", "RTS0", "--format", "json", &file("root_signature.dxil")]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["static_samplers"][0]["filter"], "ANISOTROPIC");
    assert_eq!(dxshader(&["inspect", "--part", "RDAT", &file("root_signature.dxil")]).status.code(), Some(1));
}

#[test]
fn pdb_files() {
    let file = |name: &str| format!("{}/tests/fixtures/container/{name}", env!("CARGO_MANIFEST_DIR"));
    let source = fs::read_to_string(file("root_signature.hlsl")).unwrap();
    let json: serde_json::Value =
        serde_json::from_slice(&dxshader(&["inspect", "--format", "json", &file("root_signature.pdb")]).stdout)
            .unwrap();
    assert_eq!(json["sources"][0]["contents"], source);
    let beside = stdout(&dxshader(&["inspect", &file("root_signature.dxil")]));
    assert!(beside.contains("root_signature.pdb, sources: root_signature.hlsl\n"), "{beside}");
    let within = stdout(&dxshader(&["inspect", &file("private.dxil")]));
    assert!(within.contains("PDB file within the container, sources: root_signature.hlsl\n"), "{within}");

    // Stripped of its reflection, a shader takes its names from the PDB file.
    let folder = tempfile::tempdir().unwrap();
    let stripped = folder.path().join("stripped.dxil");
    let stripped = stripped.to_str().unwrap();
    dxshader(&["strip", &file("root_signature.dxil"), "--part", "STAT", "ILDB", "-o", stripped]);
    assert!(!stdout(&dxshader(&["inspect", stripped])).contains("Constants"));
    let fixtures = file("");
    assert!(stdout(&dxshader(&["inspect", "--pdb-folder", &fixtures, stripped])).contains("Constants"));

    assert_eq!(&dxshader(&["dump", "--part", "ILDB", &file("root_signature.pdb")]).stdout[8..12], b"DXIL");
    let out = folder.path().join("out");
    let output = dxshader(&["extract", &file("root_signature.pdb"), "-o", out.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(fs::read(out.join("00000000.ps_6_1.dxil")).unwrap().starts_with(b"DXBC"));
}
