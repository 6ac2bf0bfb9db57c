//! The plugin's assets without a GPU: an asset source in memory, whose changes the tests announce themselves.
#![cfg(feature = "bevy")]

use std::{
    path::{Path, PathBuf},
    sync::mpsc,
    time::{Duration, Instant},
};

use bevy::{
    asset::{
        AssetPlugin, LoadState,
        io::{
            AssetSourceBuilder, AssetSourceEvent, AssetSourceId, AssetWatcher,
            memory::{Dir, MemoryAssetReader},
        },
    },
    ecs::message::MessageCursor,
    image::{CompressedImageFormats, ImageLoader},
    prelude::*,
    shader::Shader,
};
use bevy_dxshader::{
    LiftOptions,
    plugin::{
        DxCompute, DxInterfaceChanged, DxMaterial, DxShader, DxShaderPlugin, DxStatus, DxStatusChanged, DxStatuses,
    },
};

const VERTEX: &[u8] = include_bytes!("../assets/ported_material/lit_vs.dxbc");
const PIXEL: &[u8] = include_bytes!("../assets/ported_material/lit_ps.dxbc");
const PIXEL_DXIL: &[u8] = include_bytes!("../assets/ported_material/lit_ps.dxil");
const GEOMETRY: &[u8] = include_bytes!("fixtures/plugin/geometry.dxbc");
const TEXTURE: &[u8] = include_bytes!("../assets/ported_material/bricks.png");
const NAMED: &[u8] = include_bytes!("fixtures/plugin/named_ps.dxil");
const NAMED_PDB: &[u8] = include_bytes!("fixtures/plugin/named_ps.pdb");
const NAMED_SOURCE: &str = include_str!("fixtures/plugin/named.hlsl");
const MATERIAL: &str = r#"(
    vertex: "lit_vs.dxbc",
    pixel: "lit_ps.dxbc",
    constants: { "Ambient": [0.1, 0.1, 0.1], "Breath": 0.0, "LightCount": 0, "Lights": [], "Tiling": [1.0, 1.0] },
    textures: { "Albedo": "bricks.png" },
    samplers: { "Linear": (address: Repeat) },
)"#;

struct FakeWatcher;

impl AssetWatcher for FakeWatcher {}

/// An app over files in memory.
struct Files {
    app: App,
    root: Dir,
    /// Announces a change, as a watcher does.
    announce: Box<dyn Fn(AssetSourceEvent) + Send>,
    statuses: Vec<DxStatusChanged<DxMaterial>>,
}

impl Files {
    fn new() -> Self {
        Self::with_plugin(DxShaderPlugin::default())
    }

    fn with_plugin(plugin: DxShaderPlugin) -> Self {
        let root = Dir::default();
        let reader = MemoryAssetReader { root: root.clone() };
        let (sender, receiver) = mpsc::channel();
        let mut app = App::new();
        app.register_asset_source(
            AssetSourceId::Default,
            AssetSourceBuilder::new(move || Box::new(reader.clone())).with_watcher(move |events| {
                let send: Box<dyn Fn(AssetSourceEvent) + Send> = Box::new(move |event| {
                    let _ = events.try_send(event);
                });
                let _ = sender.send(send);
                Some(Box::new(FakeWatcher))
            }),
        );
        app.add_plugins((MinimalPlugins, AssetPlugin { watch_for_changes_override: Some(true), ..default() }, plugin));
        app.register_asset_loader(ImageLoader::new(CompressedImageFormats::NONE));
        let announce = receiver.recv().expect("the source is watched");
        Self { app, root, announce, statuses: Vec::new() }
    }

    /// Writes a file, and announces it.
    fn write(&self, path: &str, contents: impl AsRef<[u8]>) {
        let exists = self.root.get_asset(Path::new(path)).is_some();
        self.root.insert_asset(Path::new(path), contents.as_ref().to_vec());
        let path = PathBuf::from(path);
        (self.announce)(if exists {
            AssetSourceEvent::ModifiedAsset(path)
        } else {
            AssetSourceEvent::AddedAsset(path)
        });
    }

    /// The material of the tests, with all its files.
    fn write_all(&self) {
        self.write("lit_vs.dxbc", VERTEX);
        self.write("lit_ps.dxbc", PIXEL);
        self.write("bricks.png", TEXTURE);
        self.write("lit.dxmat.ron", MATERIAL);
    }

    fn load<A: Asset>(&self, path: &'static str) -> Handle<A> {
        self.app.world().resource::<AssetServer>().load(path)
    }

    /// Runs until something holds.
    #[track_caller]
    fn until(&mut self, what: &str, mut condition: impl FnMut(&World) -> bool) {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(60) {
            self.app.update();
            let mut changes = self.app.world_mut().resource_mut::<Messages<DxStatusChanged<DxMaterial>>>();
            self.statuses.extend(changes.drain());
            if condition(self.app.world()) {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        panic!("never: {what}; states so far: {:#?}", self.statuses);
    }

    /// Runs until a material has failed, and gives the error.
    #[track_caller]
    fn error_of(&mut self, material: &Handle<DxMaterial>, containing: &str) -> String {
        let id = material.id();
        let mut text = String::new();
        self.until(containing, |world| match world.resource::<DxStatuses<DxMaterial>>().get(id) {
            DxStatus::Failed { error } if error.contains(containing) => {
                text = error;
                true
            }
            _ => false,
        });
        text
    }

    #[track_caller]
    fn until_ready(&mut self, material: &Handle<DxMaterial>) {
        let id = material.id();
        self.until("ready", |world| {
            matches!(world.resource::<DxStatuses<DxMaterial>>().get(id), DxStatus::Ready { .. })
        });
    }

    /// Runs until a shader has failed to load, and gives the error.
    #[track_caller]
    fn load_error(&mut self, shader: &Handle<DxShader>) -> String {
        let mut text = String::new();
        let shader = shader.clone();
        self.until("a failed load", |world| match world.resource::<AssetServer>().get_load_state(&shader) {
            Some(LoadState::Failed(error)) => {
                text = error.to_string();
                true
            }
            _ => false,
        });
        text
    }
}

#[test]
fn a_material_loads_with_its_shaders() {
    let mut files = Files::new();
    files.write_all();
    let material = files.load::<DxMaterial>("lit.dxmat.ron");
    files.until_ready(&material);
    let status = files.app.world().resource::<DxStatuses<DxMaterial>>().get(&material);
    assert_eq!(status, DxStatus::Ready { unbound: Vec::new() });
    let world = files.app.world();
    let material = world.resource::<Assets<DxMaterial>>().get(&material).unwrap();
    let shader = world.resource::<Assets<DxShader>>().get(&material.pixel).unwrap();
    let names: Vec<_> = shader.interface().bindings.iter().filter_map(|binding| binding.name.as_deref()).collect();
    assert!(names.contains(&"Albedo") && names.contains(&"Material"), "{names:?}");
}

#[test]
fn wgsl_is_a_sub_asset() {
    let mut files = Files::new();
    files.write("lit_ps.dxbc", PIXEL);
    let wgsl = files.load::<Shader>("lit_ps.dxbc#wgsl");
    files.until("the WGSL", |world| world.resource::<Assets<Shader>>().contains(&wgsl));
    let shader = files.app.world().resource::<Assets<Shader>>().get(&wgsl).unwrap();
    assert!(shader.source.as_str().contains("@fragment"), "{}", shader.source.as_str());
}

#[test]
fn content_decides_not_the_extension() {
    let mut files = Files::new();
    files.write("a.cso", PIXEL_DXIL);
    files.write("b.dxil", PIXEL);
    for path in ["a.cso", "b.dxil"] {
        let shader = files.load::<DxShader>(path);
        files.until(path, |world| world.resource::<Assets<DxShader>>().contains(&shader));
    }
}

#[test]
fn bad_shader_files_are_named_and_heal() {
    let truncated = &PIXEL[..PIXEL.len() / 2];
    let cases: [(&str, &[u8], &str); 4] = [
        ("empty.dxbc", b"", "not a DirectX container"),
        ("text.dxbc", b"float4 main() : SV_Target { return 1; }", "not a DirectX container"),
        ("truncated.dxbc", truncated, "malformed"),
        ("magic.dxbc", b"DXBC", ""),
    ];
    let mut files = Files::new();
    for (path, contents, reason) in cases {
        files.write(path, contents);
        let shader = files.load::<DxShader>(path);
        let error = files.load_error(&shader);
        assert!(error.contains(path) && error.contains(reason), "{path}: {error}");
        files.write(path, PIXEL);
        files.until("healed", |world| world.resource::<Assets<DxShader>>().contains(&shader));
    }
}

#[test]
fn a_missing_shader_is_named_and_heals() {
    let mut files = Files::new();
    files.write_all();
    files.write("lit.dxmat.ron", MATERIAL.replace("lit_ps", "gone_ps"));
    let material = files.load::<DxMaterial>("lit.dxmat.ron");
    let error = files.error_of(&material, "gone_ps.dxbc");
    assert!(error.contains("lit.dxmat.ron") && error.contains("pixel shader"), "{error}");
    files.write("gone_ps.dxbc", PIXEL);
    files.until_ready(&material);
}

#[test]
fn a_missing_field_is_named_and_heals() {
    let mut files = Files::new();
    files.write_all();
    files.write("lit.dxmat.ron", MATERIAL.replace("\"Breath\"", "\"Breadth\""));
    let material = files.load::<DxMaterial>("lit.dxmat.ron");
    let error = files.error_of(&material, "Breadth");
    assert!(error.contains("lit.dxmat.ron") && error.contains("Ambient") && error.contains("Breath,"), "{error}");
    files.write("lit.dxmat.ron", MATERIAL);
    files.until_ready(&material);
}

#[test]
fn a_value_that_does_not_fit_is_named() {
    let mut files = Files::new();
    files.write_all();
    files.write("lit.dxmat.ron", MATERIAL.replace("[0.1, 0.1, 0.1]", "[0.1, 0.1]"));
    let material = files.load::<DxMaterial>("lit.dxmat.ron");
    let error = files.error_of(&material, "Ambient");
    assert!(error.contains("it is float3, but 2 values are given"), "{error}");
}

#[test]
fn a_missing_texture_name_and_file_are_named_and_heal() {
    let mut files = Files::new();
    files.write_all();
    files.write("lit.dxmat.ron", MATERIAL.replace("\"Albedo\"", "\"Diffuse\""));
    let material = files.load::<DxMaterial>("lit.dxmat.ron");
    let error = files.error_of(&material, "Diffuse");
    assert!(error.contains("lit.dxmat.ron") && error.contains("the shaders have Albedo"), "{error}");
    files.write("lit.dxmat.ron", MATERIAL.replace("bricks.png", "gone.png"));
    let error = files.error_of(&material, "gone.png");
    assert!(error.contains("lit.dxmat.ron") && error.contains("`Albedo`"), "{error}");
    files.write("gone.png", TEXTURE);
    files.until_ready(&material);
}

#[test]
fn broken_material_files_are_named_and_heal() {
    let mut files = Files::new();
    files.write_all();
    for (contents, reason) in [
        ("(", "lit.dxmat.ron"),
        ("(vertex: \"lit_vs.dxbc\")", "no pixel shader"),
        ("(vertx: \"lit_vs.dxbc\")", "vertx"),
        (&MATERIAL.replace("constants: {", "constants: { \"World\": \"Wrold\","), "Wrold"),
    ] {
        files.write("lit.dxmat.ron", contents);
        let material = files.load::<DxMaterial>("lit.dxmat.ron");
        let error = files.error_of(&material, reason);
        assert!(error.contains("lit.dxmat.ron"), "{error}");
        files.write("lit.dxmat.ron", MATERIAL);
        files.until_ready(&material);
        drop(material);
        // The next round loads it anew.
        files.until("dropped", |world| world.resource::<Assets<DxMaterial>>().is_empty());
    }
}

#[test]
fn shaders_of_the_wrong_stage_are_named() {
    let mut files = Files::new();
    files.write_all();
    files.write("lit_vs.dxbc", PIXEL);
    let material = files.load::<DxMaterial>("lit.dxmat.ron");
    let error = files.error_of(&material, "vertex shader is a Pixel shader");
    assert!(error.contains("lit.dxmat.ron"), "{error}");
    // A stage that materials do not draw: the lift may take it or refuse it, the file is named either way.
    files.write("lit_vs.dxbc", GEOMETRY);
    let shader = files.load::<DxShader>("lit_vs.dxbc");
    let start = Instant::now();
    let error = loop {
        files.app.update();
        if let Some(LoadState::Failed(error)) = files.app.world().resource::<AssetServer>().get_load_state(&shader) {
            break error.to_string();
        }
        if let DxStatus::Failed { error } = files.app.world().resource::<DxStatuses<DxMaterial>>().get(&material)
            && error.contains("Geometry")
        {
            break error;
        }
        assert!(start.elapsed() < Duration::from_secs(30), "no error");
    };
    assert!(error.contains("lit_vs.dxbc") || error.contains("lit.dxmat.ron"), "{error}");
    files.write("lit_vs.dxbc", VERTEX);
    files.until_ready(&material);
}

#[test]
fn compute_programs_resolve_and_their_faults_are_named() {
    let mut files = Files::new();
    files.write("squares.dxbc", include_bytes!("fixtures/plugin/squares.dxbc"));
    let text = |buffer: &str, readback: &str| {
        format!(
            r#"(
                shader: "squares.dxbc",
                constants: {{ "Number": 4, "Scale": 1.0 }},
                buffers: {{ "{buffer}": (size: 64) }},
                dispatch: (1, 1, 1),
                readback: ["{readback}"],
            )"#
        )
    };
    files.write("a.dxcomp.ron", text("Results", "Results"));
    let program = files.load::<DxCompute>("a.dxcomp.ron");
    let status = |world: &World| world.resource::<DxStatuses<DxCompute>>().get(&program);
    files.until("ready", |world| matches!(status(world), DxStatus::Ready { .. }));
    let DxStatus::Ready { unbound } = status(files.app.world()) else { panic!("ready") };
    assert_eq!(unbound, ["Factors", "Sum"]);
    for (contents, reason) in [
        (text("Result", "Result"), "no buffer `Result`: the shaders have"),
        (text("Results", "Sum"), "`Sum`, which is none of its buffers"),
        (text("Results", "Results").replace("size: 64", "size: 0"), "`Results`: a buffer of 0 bytes"),
        (text("Results", "Results").replace("\"Number\"", "\"Numbr\""), "no constant `Numbr`"),
        (text("Results", "Results").replace("1.0", "\"ViewportSize\""), "it wants ViewportSize"),
        (text("Results", "Results").replace("shader", "shaders"), "shaders"),
    ] {
        files.write("a.dxcomp.ron", contents);
        files.until(reason, |world| match status(world) {
            DxStatus::Failed { error } => error.contains("a.dxcomp.ron") && error.contains(reason),
            _ => false,
        });
    }
    files.write("a.dxcomp.ron", text("Results", "Results"));
    files.until("healed", |world| matches!(status(world), DxStatus::Ready { .. }));
}

#[test]
fn a_shader_reloads_and_a_broken_one_leaves_the_last_good() {
    let mut files = Files::new();
    files.write_all();
    let material = files.load::<DxMaterial>("lit.dxmat.ron");
    files.until_ready(&material);
    let shader = files.load::<DxShader>("lit_ps.dxbc");
    let hash = |world: &World, shader: &Handle<DxShader>| {
        world.resource::<Assets<DxShader>>().get(shader).map(|shader| shader.hash)
    };
    let first = hash(files.app.world(), &shader);
    assert!(first.is_some());

    files.write("lit_ps.dxbc", &PIXEL[..100]);
    let error = files.load_error(&shader);
    assert!(error.contains("lit_ps.dxbc"), "{error}");
    assert_eq!(hash(files.app.world(), &shader), first);

    files.write("lit_ps.dxbc", PIXEL_DXIL);
    files.until("the new shader", |world| hash(world, &shader) != first);
    files.until_ready(&material);
}

#[test]
fn a_half_written_file_is_read_again() {
    let mut files = Files::new();
    files.write("late.dxbc", &PIXEL[..PIXEL.len() / 3]);
    let shader = files.load::<DxShader>("late.dxbc");
    // The rest comes without another announcement, while the loader waits for the file to settle.
    std::thread::sleep(Duration::from_millis(30));
    files.root.insert_asset(Path::new("late.dxbc"), PIXEL.to_vec());
    files.until("the whole file", |world| {
        let state = world.resource::<AssetServer>().get_load_state(&shader);
        assert!(!matches!(state, Some(LoadState::Failed(_))), "reported at once: {state:?}");
        world.resource::<Assets<DxShader>>().contains(&shader)
    });
}

#[test]
fn one_broken_file_does_not_stop_another() {
    let mut files = Files::new();
    files.write_all();
    files.write("bad.dxmat.ron", MATERIAL.replace("lit_vs", "bad_vs"));
    files.write("bad_vs.dxbc", "not a shader");
    let bad = files.load::<DxMaterial>("bad.dxmat.ron");
    let good = files.load::<DxMaterial>("lit.dxmat.ron");
    files.error_of(&bad, "bad_vs.dxbc");
    files.until_ready(&good);
}

#[test]
fn each_error_is_sent_once() {
    let mut files = Files::new();
    files.write_all();
    files.write("lit.dxmat.ron", MATERIAL.replace("\"Breath\"", "\"Breadth\""));
    let material = files.load::<DxMaterial>("lit.dxmat.ron");
    files.error_of(&material, "Breadth");
    for _ in 0..50 {
        files.app.update();
    }
    // The shader changes; the material's fault stays the same.
    files.write("lit_ps.dxbc", PIXEL_DXIL);
    let shader = files.load::<DxShader>("lit_ps.dxbc");
    files.until("the shader", |world| world.resource::<AssetServer>().is_loaded(&shader));
    for _ in 0..50 {
        files.app.update();
    }
    let failures = files
        .statuses
        .iter()
        .filter(|change| matches!(&change.status, DxStatus::Failed { error } if error.contains("Breadth")));
    assert_eq!(failures.count(), 1);
}

#[test]
fn what_stays_unbound_is_listed() {
    let mut files = Files::new();
    files.write_all();
    files.write("lit.dxmat.ron", r#"(vertex: "lit_vs.dxbc", pixel: "lit_ps.dxbc")"#);
    let material = files.load::<DxMaterial>("lit.dxmat.ron");
    files.until_ready(&material);
    let DxStatus::Ready { unbound } = files.app.world().resource::<DxStatuses<DxMaterial>>().get(&material) else {
        panic!("ready")
    };
    for name in ["Ambient", "Breath", "Lights", "LightCount", "Tiling", "Albedo", "Linear"] {
        assert!(unbound.iter().any(|known| known == name), "{name} in {unbound:?}");
    }
    // Well-known names are wired.
    for name in ["g_World", "g_ViewProjection", "g_CameraPosition", "g_Time"] {
        assert!(!unbound.iter().any(|known| known == name), "{name} in {unbound:?}");
    }
}

/// Fifty nested loops: naga's recursions must not depend on the stack of whoever lifts. Here that is a small one.
#[test]
fn deep_shaders_are_lifted() {
    const DEEP: [(&str, &[u8]); 2] = [
        ("deep_ps.dxil", include_bytes!("fixtures/plugin/deep_ps.dxil")),
        ("deep_cs.dxil", include_bytes!("fixtures/plugin/deep_cs.dxil")),
    ];
    for (path, bytes) in DEEP {
        let lift = move || DxShader::from_bytes(bytes, &LiftOptions::default()).unwrap().to_wgsl().unwrap();
        let text = std::thread::Builder::new().stack_size(128 << 10).spawn(lift).unwrap().join().unwrap();
        let deepest = text.lines().map(|line| line.len() - line.trim_start().len()).max().unwrap_or(0) / 4;
        assert!(deepest >= 100, "{path}: it nests {deepest} deep only");
    }
    let mut files = Files::new();
    for (path, bytes) in DEEP {
        files.write(path, bytes);
        let handle: Handle<DxShader> = files.load(path);
        files.until("loaded", |world| world.resource::<AssetServer>().is_loaded_with_dependencies(&handle));
        let shader = files.app.world().resource::<Assets<DxShader>>().get(&handle).unwrap();
        assert!(shader.wgsl.is_some());
    }
}

/// A reload that changes the interface says what; one that does not is silent.
#[test]
fn changed_interfaces_are_told() {
    const COMPARE: &[u8] = include_bytes!("fixtures/plugin/compare_ps.dxbc");
    let mut files = Files::new();
    files.write("a.dxbc", PIXEL);
    let handle: Handle<DxShader> = files.load("a.dxbc");
    files.until("loaded", |world| world.resource::<AssetServer>().is_loaded(&handle));
    let interface = |world: &World| world.resource::<Assets<DxShader>>().get(&handle).map(|shader| shader.hash);
    // Messages outlive the update that they are sent in: the cursor sees each once.
    let mut cursor = MessageCursor::<DxInterfaceChanged>::default();
    let mut told = |world: &World| cursor.read(world.resource::<Messages<DxInterfaceChanged>>()).next().cloned();
    let before = interface(files.app.world());
    files.write("a.dxbc", COMPARE);
    let mut change = None;
    files.until("the change", |world| {
        change = told(world);
        change.is_some()
    });
    let change = change.unwrap();
    assert_eq!(change.id, handle.id());
    let summaries: Vec<String> = change.changes.iter().map(|change| change.summary()).collect();
    assert!(
        summaries.iter().any(|summary| summary.starts_with("bindings[b") && summary.ends_with(" removed")),
        "{summaries:?}"
    );
    let after = interface(files.app.world());
    assert_ne!(before, after);
    // The same file again.
    files.app.update();
    files.write("a.dxbc", COMPARE);
    for _ in 0..100 {
        files.app.update();
        std::thread::sleep(Duration::from_millis(2));
        assert_eq!(told(files.app.world()), None);
    }
}

/// Names of the bindings of a shader that is loaded, and of the fields of its constant buffers.
fn names(world: &World, shader: &Handle<DxShader>) -> Option<Vec<String>> {
    let shader = world.resource::<Assets<DxShader>>().get(shader)?;
    let bindings = &shader.interface().bindings;
    let fields = bindings.iter().filter_map(|binding| binding.layout.as_ref()).flat_map(|layout| &layout.fields);
    let names = bindings.iter().filter_map(|binding| binding.name.clone());
    Some(names.chain(fields.map(|field| field.name.clone())).collect())
}

const NAMES: [&str; 5] = ["albedo", "Surface", "linear_sampler", "tint", "lights"];

#[test]
fn names_and_sources_come_from_a_pdb_file() {
    let mut files = Files::new();
    files.write("shaders/named_ps.dxil", NAMED);
    files.write("shaders/named_ps.pdb", NAMED_PDB);
    let shader = files.load::<DxShader>("shaders/named_ps.dxil");
    files.until("the shader", |world| names(world, &shader).is_some());
    assert_eq!(names(files.app.world(), &shader).unwrap(), NAMES);
    let debug = files.app.world().resource::<Assets<DxShader>>().get(&shader).unwrap().debug.clone().unwrap();
    assert_eq!(debug.file.as_ref().unwrap().to_string(), "shaders/named_ps.pdb");
    assert_eq!(debug.sources[0].contents.as_deref(), Some(NAMED_SOURCE));

    // Without the file it has no names; a file of another shader is left alone.
    let mut files = Files::new();
    files.write("named_ps.dxil", NAMED);
    files.write("named_ps.pdb", include_bytes!("fixtures/container/root_signature.pdb"));
    let shader = files.load::<DxShader>("named_ps.dxil");
    files.until("the shader", |world| names(world, &shader).is_some());
    assert_eq!(names(files.app.world(), &shader).unwrap(), [""; 0]);
    assert_eq!(files.app.world().resource::<Assets<DxShader>>().get(&shader).unwrap().debug, None);
}

#[test]
fn pdb_files_are_found_in_folders_and_reload() {
    let plugin = DxShaderPlugin { pdb_folders: vec!["symbols".into()], ..default() };
    let mut files = Files::with_plugin(plugin);
    files.write("named_ps.dxil", NAMED);
    files.write("symbols/named_ps.pdb", &NAMED_PDB[..NAMED_PDB.len() / 2]);
    let shader = files.load::<DxShader>("named_ps.dxil");
    files.until("the shader", |world| names(world, &shader).is_some());
    assert_eq!(names(files.app.world(), &shader).unwrap(), [""; 0], "the file is cut short");
    files.write("symbols/named_ps.pdb", NAMED_PDB);
    files.until("the names", |world| names(world, &shader).is_some_and(|names| names == NAMES));
}
