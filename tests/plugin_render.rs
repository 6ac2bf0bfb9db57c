//! The plugin with a renderer: pictures checked by their pixels. Without a GPU and a Vulkan driver the tests say so and pass.
#![cfg(feature = "bevy")]

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, mpsc},
    time::{Duration, Instant},
};

use bevy::{
    app::PluginsState,
    asset::{
        AssetPath, RenderAssetUsages,
        io::{
            AssetSourceBuilder, AssetSourceEvent, AssetSourceId, AssetWatcher,
            memory::{Dir, MemoryAssetReader},
        },
    },
    camera::{RenderTarget, ScalingMode},
    core_pipeline::tonemapping::Tonemapping,
    image::ImageSampler,
    log::LogPlugin,
    prelude::*,
    render::{
        RenderPlugin,
        pipelined_rendering::PipelinedRenderingPlugin,
        render_resource::{Extent3d, TextureDimension, TextureFormat, TextureUsages},
        settings::{InstanceFlags, WgpuFeatures, WgpuSettings},
        view::screenshot::{Screenshot, ScreenshotCaptured},
    },
    time::TimeUpdateStrategy,
    window::ExitCondition,
    winit::WinitPlugin,
};
use bevy_dxshader::{
    cases::Runner,
    plugin::{DxComputeReadback, DxDispatch, DxMaterial, DxMaterial3d, DxShader, DxShaderPlugin, DxStatus, DxStatuses},
};

const SIZE: u32 = 64;

struct FakeWatcher;

impl AssetWatcher for FakeWatcher {}

/// An app that draws a square of 2 x 2 units, seen from the front by a camera that it fills.
struct Stage {
    app: App,
    root: Dir,
    announce: Box<dyn Fn(AssetSourceEvent) + Send>,
    canvas: Handle<Image>,
    _alone: MutexGuard<'static, ()>,
}

/// `None` if this machine cannot draw.
fn stage() -> Option<Stage> {
    stage_without(WgpuFeatures::empty())
}

/// A stage on a device that lacks features.
fn stage_without(features: WgpuFeatures) -> Option<Stage> {
    static ALONE: Mutex<()> = Mutex::new(());
    static DEVICE: OnceLock<Result<(), String>> = OnceLock::new();
    // One app at a time: software drivers take every core for themselves.
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Err(reason) = DEVICE.get_or_init(|| Runner::new().map(|_| ())) {
        println!("skipped: this machine has no GPU and no Vulkan driver: {reason}");
        return None;
    }
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
    let settings =
        WgpuSettings { instance_flags: InstanceFlags::empty(), disabled_features: Some(features), ..default() };
    app.add_plugins(
        DefaultPlugins
            .set(AssetPlugin { watch_for_changes_override: Some(true), ..default() })
            .set(RenderPlugin { synchronous_pipeline_compilation: true, render_creation: settings.into(), ..default() })
            .set(WindowPlugin { primary_window: None, exit_condition: ExitCondition::DontExit, ..default() })
            .disable::<WinitPlugin>()
            .disable::<LogPlugin>()
            .disable::<PipelinedRenderingPlugin>(),
    );
    app.add_plugins(DxShaderPlugin { synchronous_pipeline_compilation: true, ..default() });
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::ZERO));
    app.insert_resource(ClearColor(Color::BLACK));
    while app.plugins_state() == PluginsState::Adding {
        bevy::tasks::tick_global_task_pools_on_main_thread();
    }
    app.finish();
    app.cleanup();

    let mut image = Image::new_target_texture(SIZE, SIZE, TextureFormat::Rgba8UnormSrgb, None);
    image.texture_descriptor.usage |= TextureUsages::COPY_SRC;
    image.asset_usage = RenderAssetUsages::all();
    let canvas = app.world_mut().resource_mut::<Assets<Image>>().add(image);
    app.world_mut().spawn((
        Camera3d::default(),
        RenderTarget::Image(canvas.clone().into()),
        Tonemapping::None,
        Msaa::Off,
        Projection::Orthographic(OrthographicProjection {
            scaling_mode: ScalingMode::Fixed { width: 2.0, height: 2.0 },
            near: 0.0,
            far: 10.0,
            ..OrthographicProjection::default_3d()
        }),
        Transform::from_xyz(0.0, 0.0, 5.0),
    ));
    let announce = receiver.recv().expect("the source is watched");
    let stage = Stage { app, root, announce, canvas, _alone: alone };
    let files: [(&str, &[u8]); 6] = [
        ("quad_vs.dxbc", include_bytes!("fixtures/plugin/quad_vs.dxbc")),
        ("quad_ps.dxbc", include_bytes!("fixtures/plugin/quad_ps.dxbc")),
        ("quad_vs.dxil", include_bytes!("fixtures/plugin/quad_vs.dxil")),
        ("quad_ps.dxil", include_bytes!("fixtures/plugin/quad_ps.dxil")),
        ("stripped_vs.dxbc", include_bytes!("fixtures/plugin/quad_stripped_vs.dxbc")),
        ("stripped_ps.dxbc", include_bytes!("fixtures/plugin/quad_stripped_ps.dxbc")),
    ];
    for (path, contents) in files {
        stage.write(path, contents);
    }
    Some(stage)
}

/// A material of `quad_*`: `constants` are entries of a RON map, `rest` further fields of the file.
fn quad(format: &str, constants: &str, rest: &str) -> String {
    format!(
        r#"(
            vertex: "quad_vs.{format}", pixel: "quad_ps.{format}", vectors: Column,
            constants: {{ "Offsets": [], "Left": [1, 0, 0, 1], "Right": [0, 0, 1, 1], "Mode": 0, {constants} }},
            {rest}
        )"#
    )
}

impl Stage {
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

    /// Adds a square with a material from a file's text.
    fn add(&mut self, path: &'static str, material: &str, transform: Transform) -> Handle<DxMaterial> {
        self.write(path, material);
        let world = self.app.world_mut();
        let material = world.resource::<AssetServer>().load(path);
        let mesh = world.resource_mut::<Assets<Mesh>>().add(Rectangle::new(2.0, 2.0));
        world.spawn((Mesh3d(mesh), DxMaterial3d(material.clone()), transform));
        material
    }

    #[track_caller]
    fn until(&mut self, what: &str, mut condition: impl FnMut(&World) -> bool) {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(60) {
            self.app.update();
            if condition(self.app.world()) {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        panic!("never: {what}");
    }

    #[track_caller]
    fn until_ready(&mut self, material: &Handle<DxMaterial>) {
        let id = material.id();
        let mut last = DxStatus::Loading;
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(60) {
            self.app.update();
            last = self.app.world().resource::<DxStatuses<DxMaterial>>().get(id);
            if matches!(last, DxStatus::Ready { .. })
                && self.app.world().resource::<AssetServer>().is_loaded_with_dependencies(id)
            {
                return;
            }
        }
        panic!("never ready: {last:?}");
    }

    /// What the camera sees, after a few frames.
    #[track_caller]
    fn picture(&mut self) -> Picture {
        for _ in 0..4 {
            self.app.update();
        }
        let taken: Arc<Mutex<Option<Image>>> = default();
        let slot = taken.clone();
        self.app.world_mut().spawn(Screenshot::image(self.canvas.clone())).observe(
            move |event: On<ScreenshotCaptured>| {
                *slot.lock().unwrap() = Some(event.image.clone());
            },
        );
        let mut image = None;
        self.until("a picture", |_| {
            image = taken.lock().unwrap().take();
            image.is_some()
        });
        Picture(image.unwrap().data.unwrap())
    }

    /// An image of 2 x 2 texels: red, green over blue, white.
    fn checks(&mut self, format: TextureFormat) -> Handle<Image> {
        let data = vec![255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 255, 255, 255, 255];
        let size = Extent3d { width: 2, height: 2, depth_or_array_layers: 1 };
        let mut image = Image::new(size, TextureDimension::D2, data, format, RenderAssetUsages::default());
        image.sampler = ImageSampler::nearest();
        self.app.world_mut().resource_mut::<Assets<Image>>().add(image)
    }

    fn error_of(&self, material: &Handle<DxMaterial>) -> Option<String> {
        match self.app.world().resource::<DxStatuses<DxMaterial>>().get(material) {
            DxStatus::Failed { error } => Some(error),
            _ => None,
        }
    }
}

struct Picture(Vec<u8>);

impl Picture {
    /// The pixel at a place between (0, 0), top left, and (1, 1).
    fn at(&self, x: f32, y: f32) -> [u8; 3] {
        let (x, y) = ((x * SIZE as f32) as usize, (y * SIZE as f32) as usize);
        let start = 4 * (y * SIZE as usize + x);
        [self.0[start], self.0[start + 1], self.0[start + 2]]
    }

    #[track_caller]
    fn expect(&self, x: f32, y: f32, linear: [f32; 3]) {
        let expected =
            linear.map(|channel| (255.0 * Color::linear_rgb(channel, 0.0, 0.0).to_srgba().red).round() as u8);
        let found = self.at(x, y);
        let near = found.iter().zip(&expected).all(|(found, expected)| found.abs_diff(*expected) <= 1);
        assert!(near, "at ({x}, {y}): {found:?}, expected {expected:?}");
    }

    fn greatest_difference(&self, other: &Self) -> u8 {
        self.0.iter().zip(&other.0).map(|(a, b)| a.abs_diff(*b)).max().unwrap()
    }
}

const RED: [f32; 3] = [1.0, 0.0, 0.0];
const GREEN: [f32; 3] = [0.0, 1.0, 0.0];
const BLUE: [f32; 3] = [0.0, 0.0, 1.0];
const WHITE: [f32; 3] = [1.0, 1.0, 1.0];
const BLACK: [f32; 3] = [0.0, 0.0, 0.0];

/// Colours by constants; the mesh has none, so that the vertex colour is 1. Row-major and column-major matrices, by column
/// vectors; an array of `float2`, whose elements have a stride of 16 bytes.
#[test]
fn constants_reach_both_formats() {
    let Some(mut stage) = stage() else { return };
    for format in ["dxbc", "dxil"] {
        let constants = r#""Left": [0.25, 0.5, 1.0, 1.0], "Colors.Right": [1, 1, 0, 1], "Offsets[1]": [0.5, 0.0]"#;
        let path = if format == "dxbc" { "a.dxmat.ron" } else { "b.dxmat.ron" };
        let material = stage.add(path, &quad(format, constants, ""), Transform::default());
        stage.until_ready(&material);
        let picture = stage.picture();
        // Moved to the right by a quarter of the picture.
        picture.expect(0.1, 0.5, BLACK);
        picture.expect(0.3, 0.5, [0.25, 0.5, 1.0]);
        picture.expect(0.7, 0.1, [0.25, 0.5, 1.0]);
        picture.expect(0.8, 0.9, [1.0, 1.0, 0.0]);
        let world = stage.app.world_mut();
        let drawn: Vec<Entity> = world.query_filtered::<Entity, With<DxMaterial3d>>().iter(world).collect();
        drawn.into_iter().for_each(|entity| assert!(world.despawn(entity)));
    }
}

/// Without names, registers say it all: the same picture.
#[test]
fn registers_name_what_has_no_name() {
    let Some(mut stage) = stage() else { return };
    let identity = "[1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1]";
    let material = format!(
        r#"(
            vertex: "stripped_vs.dxbc", pixel: "stripped_ps.dxbc", vectors: Column,
            constants: {{
                "vs.cb0": {identity},
                "vs.cb0[4]": "ViewProjection",
                "ps.cb1[0]": [0.25, 0.5, 1.0, 1.0],
                "ps.cb1[1]": [1, 1, 0, 1],
            }},
        )"#
    );
    let material = stage.add("stripped.dxmat.ron", &material, Transform::default());
    stage.until_ready(&material);
    let picture = stage.picture();
    picture.expect(0.25, 0.5, [0.25, 0.5, 1.0]);
    picture.expect(0.75, 0.5, [1.0, 1.0, 0.0]);
}

/// u to the right, v down, the first texel top left, as Direct3D has them.
#[test]
fn textures_lie_as_in_direct3d() {
    let Some(mut stage) = stage() else { return };
    let image = stage.checks(TextureFormat::Rgba8Unorm);
    for format in ["dxbc", "dxil"] {
        let text = quad(format, r#""Mode": 1"#, "");
        stage.write("t.dxmat.ron", &text);
        let (handle, material, entity) = stage.draw_with_image("t.dxmat.ron", &image);
        let picture = stage.picture();
        for (x, y, color) in [(0.2, 0.2, RED), (0.8, 0.2, GREEN), (0.2, 0.8, BLUE), (0.8, 0.8, WHITE)] {
            picture.expect(x, y, color);
        }
        stage.app.world_mut().despawn(entity);
        drop((handle, material));
        stage.until("dropped", |world| world.resource::<Assets<DxMaterial>>().is_empty());
    }
}

impl Stage {
    /// Draws a quad under a material from a file, with an image that was made in code, and waits until it is ready: the file's
    /// material, the one that is drawn, and the quad.
    #[track_caller]
    fn draw_with_image(
        &mut self,
        path: impl Into<AssetPath<'static>>,
        image: &Handle<Image>,
    ) -> (Handle<DxMaterial>, Handle<DxMaterial>, Entity) {
        let handle: Handle<DxMaterial> = self.app.world().resource::<AssetServer>().load(path);
        self.until("loaded", |world| world.resource::<AssetServer>().is_loaded_with_dependencies(&handle));
        let world = self.app.world_mut();
        let mut material = world.resource::<Assets<DxMaterial>>().get(&handle).unwrap().clone();
        material.textures.insert("Image".to_owned(), image.clone());
        let material = world.resource_mut::<Assets<DxMaterial>>().add(material);
        let mesh = world.resource_mut::<Assets<Mesh>>().add(Rectangle::new(2.0, 2.0));
        let entity = world.spawn((Mesh3d(mesh), DxMaterial3d(material.clone()))).id();
        self.until_ready_made(&material);
        (handle, material, entity)
    }

    /// [`Stage::until_ready`] for a material that was made in code.
    #[track_caller]
    fn until_ready_made(&mut self, material: &Handle<DxMaterial>) {
        let id = material.id();
        self.until("ready", |world| {
            matches!(world.resource::<DxStatuses<DxMaterial>>().get(id), DxStatus::Ready { .. })
        });
    }
}

/// A colour texture is compared in the shader, as its sampler says; and the shader knows the samples of its target.
#[test]
fn colour_textures_are_compared() {
    let Some(mut stage) = stage() else { return };
    stage.write("compare_ps.dxbc", include_bytes!("fixtures/plugin/compare_ps.dxbc"));
    stage.write("compare_ps.dxil", include_bytes!("fixtures/plugin/compare_ps.dxil"));
    let image = stage.checks(TextureFormat::Rgba8Unorm);
    let cases = [("dxbc", "Less", Msaa::Off), ("dxil", "Less", Msaa::Sample4), ("dxbc", "GreaterEqual", Msaa::Sample4)];
    for (number, (format, compare, msaa)) in cases.into_iter().enumerate() {
        let path = format!("compare{number}.dxmat.ron");
        stage.write(
            &path,
            format!(
                r#"(
                    vertex: "quad_vs.{format}", pixel: "compare_ps.{format}", vectors: Column,
                    constants: {{ "Offsets": [] }},
                    samplers: {{ "Compare": (filter: Nearest, compare: Some({compare})) }},
                )"#
            ),
        );
        let world = stage.app.world_mut();
        let cameras: Vec<Entity> = world.query_filtered::<Entity, With<Camera3d>>().iter(world).collect();
        for camera in cameras {
            world.entity_mut(camera).insert(msaa);
        }
        let (_handle, material, entity) = stage.draw_with_image(path, &image);
        let picture = stage.picture();
        assert_eq!(stage.error_of(&material), None);
        // The red channel: 1, 0 over 0, 1. The reference is 0.5.
        let samples = msaa.samples() as f32 * 0.125;
        for (x, y, red) in [(0.2, 0.2, true), (0.8, 0.2, false), (0.2, 0.8, false), (0.8, 0.8, true)] {
            let passed = if red == (compare == "Less") { 1.0 } else { 0.0 };
            picture.expect(x, y, [passed, 0.0, samples]);
        }
        stage.app.world_mut().despawn(entity);
    }
}

/// Samplers that a material leaves out are the root signature's; those that it gives are its own.
#[test]
fn samplers_of_root_signatures_are_bound() {
    let Some(mut stage) = stage() else { return };
    stage.write("static_samplers_ps.dxbc", include_bytes!("fixtures/plugin/static_samplers_ps.dxbc"));
    stage.write("static_samplers_ps.dxil", include_bytes!("fixtures/plugin/static_samplers_ps.dxil"));
    let image = stage.checks(TextureFormat::Rgba8Unorm);
    // In the texture's coordinates (1.7, 0.3), (2.3, 0.3), (-0.7, 0.3) and (0.7, 0.7).
    let places = [(0.675, 0.325), (0.825, 0.325), (0.075, 0.325), (0.425, 0.425)];
    let signature = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]];
    let own = [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]];
    let clamped = r#"samplers: { "Wrapped": (filter: Nearest) },"#;
    let cases = [("dxbc", "", signature), ("dxil", "", signature), ("dxil", clamped, own)];
    for (number, (format, samplers, colors)) in cases.into_iter().enumerate() {
        let path = format!("static{number}.dxmat.ron");
        let text = format!(
            r#"(
                vertex: "quad_vs.{format}", pixel: "static_samplers_ps.{format}", vectors: Column,
                constants: {{ "Offsets": [] }}, {samplers}
            )"#
        );
        stage.write(&path, text);
        let (_handle, material, entity) = stage.draw_with_image(path, &image);
        let picture = stage.picture();
        assert_eq!(stage.error_of(&material), None);
        for ((x, y), color) in places.into_iter().zip(colors) {
            picture.expect(x, y, color);
        }
        stage.app.world_mut().despawn(entity);
    }
}

/// Fifty nested loops are compiled with room on the stack.
#[test]
fn deep_shaders_are_drawn() {
    let Some(mut stage) = stage() else { return };
    stage.write("deep_ps.dxil", include_bytes!("fixtures/plugin/deep_ps.dxil"));
    let text = r#"(
        vertex: "quad_vs.dxil", pixel: "deep_ps.dxil", vectors: Column,
        constants: { "Offsets": [], "Count": 1 },
    )"#;
    let material = stage.add("deep.dxmat.ron", text, Transform::default());
    stage.until_ready(&material);
    let picture = stage.picture();
    assert_eq!(stage.error_of(&material), None);
    // Each level adds one or more.
    picture.expect(0.5, 0.5, [1.0, 1.0, 0.0]);
}

/// Doubles are the same on a device that has none.
#[test]
fn doubles_are_drawn_without_them() {
    for features in
        [WgpuFeatures::empty(), WgpuFeatures::SHADER_F64, WgpuFeatures::SHADER_F64 | WgpuFeatures::SHADER_INT64]
    {
        let Some(mut stage) = stage_without(features) else { return };
        stage.write("double_ps.dxbc", include_bytes!("fixtures/plugin/double_ps.dxbc"));
        stage.write("double_ps.dxil", include_bytes!("fixtures/plugin/double_ps.dxil"));
        for (path, format) in [("double.dxmat.ron", "dxbc"), ("double6.dxmat.ron", "dxil")] {
            let text = format!(
                r#"(
                    vertex: "quad_vs.{format}", pixel: "double_ps.{format}", vectors: Column,
                    constants: {{ "Offsets": [], "Number": 1.0 }},
                )"#
            );
            let material = stage.add(path, &text, Transform::default());
            stage.until_ready(&material);
            let picture = stage.picture();
            assert_eq!(stage.error_of(&material), None);
            picture.expect(0.5, 0.5, [1.0, 1.0, 0.0]);
        }
    }
}

/// Texture coordinates arrive interpolated.
#[test]
fn varyings_are_interpolated() {
    let Some(mut stage) = stage() else { return };
    for (path, format) in [("v.dxmat.ron", "dxbc"), ("w.dxmat.ron", "dxil")] {
        let material = stage.add(path, &quad(format, r#""Mode": 2"#, ""), Transform::default());
        stage.until_ready(&material);
        let picture = stage.picture();
        for (x, y) in [(0.25, 0.25), (0.75, 0.5), (0.5, 0.9)] {
            let centre = |at: f32| ((at * SIZE as f32).floor() + 0.5) / SIZE as f32;
            picture.expect(x, y, [centre(x), centre(y), 0.0]);
        }
    }
}

/// The nearer of two hides the other, whichever is drawn first; without a test the last wins; `Greater` turns it round.
#[test]
fn depth_is_tested_as_written_for_direct3d() {
    let Some(mut stage) = stage() else { return };
    let near = quad("dxbc", r#""Right": [1, 0, 0, 1]"#, "");
    let far = quad("dxbc", r#""Left": [0, 0, 1, 1]"#, "");
    let a = stage.add("near.dxmat.ron", &near, Transform::from_xyz(0.0, 0.0, 1.0));
    let b = stage.add("far.dxmat.ron", &far, Transform::from_xyz(0.0, 0.0, -1.0));
    stage.until_ready(&a);
    stage.until_ready(&b);
    stage.picture().expect(0.25, 0.5, RED);
    // Against the cleared depth, which is the farthest, `Greater` never passes.
    stage.write("near.dxmat.ron", quad("dxbc", r#""Right": [1, 0, 0, 1]"#, "state: (depth_compare: Greater)"));
    let start = Instant::now();
    while stage.picture().at(0.25, 0.5) == [255, 0, 0] {
        assert!(start.elapsed() < Duration::from_secs(30), "the state did not change");
    }
    stage.picture().expect(0.25, 0.5, BLUE);
}

#[test]
fn culling_and_winding() {
    let Some(mut stage) = stage() else { return };
    let cases = [
        ("c0.dxmat.ron", "cull: Back", true),
        ("c1.dxmat.ron", "cull: Front", false),
        ("c2.dxmat.ron", "cull: Back, front: Clockwise", false),
        ("c3.dxmat.ron", "cull: None", true),
    ];
    for (path, state, visible) in cases {
        let material = stage.add(path, &quad("dxbc", "", &format!("state: ({state})")), Transform::default());
        stage.until_ready(&material);
        stage.picture().expect(0.25, 0.5, if visible { RED } else { BLACK });
        let world = stage.app.world_mut();
        let drawn: Vec<Entity> = world.query_filtered::<Entity, With<DxMaterial3d>>().iter(world).collect();
        drawn.into_iter().for_each(|entity| assert!(world.despawn(entity)));
    }
}

/// Blended objects come after the opaque ones, and the write mask keeps channels.
#[test]
fn blending_and_write_masks() {
    let Some(mut stage) = stage() else { return };
    let behind = stage.add("behind.dxmat.ron", &quad("dxbc", "", ""), Transform::from_xyz(0.0, 0.0, -1.0));
    let glass = quad(
        "dxbc",
        r#""Left": [0, 1, 0, 0.25], "Right": [0, 1, 0, 0.25]"#,
        "state: (blend: Alpha, depth_write: false)",
    );
    let glass = stage.add("glass.dxmat.ron", &glass, Transform::default());
    stage.until_ready(&behind);
    stage.until_ready(&glass);
    let picture = stage.picture();
    picture.expect(0.25, 0.5, [0.75, 0.25, 0.0]);
    picture.expect(0.75, 0.5, [0.0, 0.25, 0.75]);
    // The same file, opaque now, without red.
    stage.write(
        "glass.dxmat.ron",
        quad("dxbc", r#""Left": [1, 1, 1, 1], "Right": [1, 1, 1, 1]"#, r#"state: (write_mask: "gb")"#),
    );
    let start = Instant::now();
    while stage.picture().at(0.75, 0.5) != [0, 255, 255] {
        assert!(start.elapsed() < Duration::from_secs(30), "the material did not change phase");
    }
}

/// Ten buffers that change with each draw: more than dynamic offsets serve. Two objects of one material, in the row-vector
/// convention, by well-known names alone.
#[test]
fn each_object_has_its_constants_however_many_buffers() {
    let Some(mut stage) = stage() else { return };
    stage.write("many_vs.dxbc", include_bytes!("fixtures/plugin/many_vs.dxbc"));
    stage.write("many_ps.dxbc", include_bytes!("fixtures/plugin/many_ps.dxbc"));
    let text = r#"(vertex: "many_vs.dxbc", pixel: "many_ps.dxbc")"#;
    let place = |x| Transform::from_xyz(x, 0.0, 0.0).with_scale(Vec3::splat(0.4));
    let material = stage.add("many.dxmat.ron", text, place(0.5));
    stage.until_ready(&material);
    let mesh = stage.app.world_mut().resource_mut::<Assets<Mesh>>().add(Rectangle::new(1.0, 1.0));
    stage.app.world_mut().spawn((Mesh3d(mesh), DxMaterial3d(material.clone()), place(-0.25)));
    let status = stage.app.world().resource::<DxStatuses<DxMaterial>>().get(&material);
    assert_eq!(status, DxStatus::Ready { unbound: Vec::new() });
    let picture = stage.picture();
    picture.expect(0.75, 0.5, [0.5, 0.5, 0.5]);
    picture.expect(0.375, 0.5, [0.0, 0.5, 0.5]);
    picture.expect(0.05, 0.5, BLACK);
}

/// A changed shader is taken up; a broken one leaves the picture; so does one that only wgpu objects to.
#[test]
fn what_was_last_good_stays() {
    let Some(mut stage) = stage() else { return };
    let material = stage.add("m.dxmat.ron", &quad("dxbc", "", ""), Transform::default());
    stage.until_ready(&material);
    let before = stage.picture();
    before.expect(0.25, 0.5, RED);

    stage.write("quad_ps.dxbc", "no shader at all");
    let shader: Handle<DxShader> = stage.app.world().resource::<AssetServer>().load("quad_ps.dxbc");
    stage.until("the fault", |world| world.resource::<AssetServer>().load_state(&shader).is_failed());
    assert_eq!(stage.picture().greatest_difference(&before), 0);

    // It heals, as another format.
    stage.write("quad_ps.dxbc", include_bytes!("fixtures/plugin/quad_ps.dxil"));
    stage.until("the shader", |world| world.resource::<AssetServer>().is_loaded(&shader));
    assert!(stage.picture().greatest_difference(&before) < 2);

    // Integers where the shader samples floats: everything resolves, and wgpu says no.
    let image = stage.checks(TextureFormat::Rgba8Uint);
    let world = stage.app.world_mut();
    let mut materials = world.resource_mut::<Assets<DxMaterial>>();
    materials.get_mut(&material).unwrap().textures.insert("Image".to_owned(), image);
    let start = Instant::now();
    let error = loop {
        stage.app.update();
        if let Some(error) = stage.error_of(&material) {
            break error;
        }
        assert!(start.elapsed() < Duration::from_secs(30), "no error");
    };
    assert!(error.contains("m.dxmat.ron"), "{error}");
    assert!(stage.picture().greatest_difference(&before) < 2);

    // And heals.
    stage.write("m.dxmat.ron", quad("dxbc", r#""Left": [0, 1, 0, 1]"#, ""));
    let start = Instant::now();
    while stage.picture().at(0.25, 0.5) != [0, 255, 0] {
        assert!(start.elapsed() < Duration::from_secs(30), "it did not heal: {:?}", stage.error_of(&material));
    }
    assert_eq!(stage.error_of(&material), None);
}

/// Both pairs of the example look the same, as it moves.
#[test]
fn the_pairs_of_the_example_look_the_same() {
    let Some(mut stage) = stage() else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/ported_material");
    for file in std::fs::read_dir(folder).unwrap() {
        let file = file.unwrap();
        let name = file.file_name().into_string().unwrap();
        stage.write(&format!("example/{name}"), std::fs::read(file.path()).unwrap());
    }
    let world = stage.app.world_mut();
    let mesh = world.resource_mut::<Assets<Mesh>>().add(Sphere::new(0.9).mesh().uv(48, 24));
    let entity = world.spawn((Mesh3d(mesh), Transform::default())).id();
    let mut pictures = Vec::new();
    for path in ["example/lit_dxbc.dxmat.ron", "example/lit_dxil.dxmat.ron"] {
        let material: Handle<DxMaterial> = stage.app.world().resource::<AssetServer>().load(path);
        stage.app.world_mut().entity_mut(entity).insert(DxMaterial3d(material.clone()));
        stage.until_ready(&material);
        pictures.push(stage.picture());
    }
    let difference = pictures[0].greatest_difference(&pictures[1]);
    assert!(difference < 2, "they differ by {difference} of 255");
    // Bricks in the middle, nothing in the corner.
    let [red, green, blue] = pictures[0].at(0.5, 0.5);
    assert!(red > 60 && red > green && red > blue, "{:?}", pictures[0].at(0.5, 0.5));
    pictures[0].expect(0.01, 0.01, BLACK);
    // Time moves the surface.
    stage.app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(200)));
    stage.app.update();
    stage.app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::ZERO));
    assert!(stage.picture().greatest_difference(&pictures[1]) > 2);
}

/// `Squares`: a typed buffer read, a structured one and a raw one written, counted atomically.
#[test]
fn compute_programs_write_what_they_should() {
    let Some(mut stage) = stage() else { return };
    let shaders: [(&str, &[u8]); 2] = [
        ("squares.dxbc", include_bytes!("fixtures/plugin/squares.dxbc")),
        ("squares.dxil", include_bytes!("fixtures/plugin/squares.dxil")),
    ];
    for (path, contents) in shaders {
        stage.write(path, contents);
    }
    for (path, shader) in [("a.dxcomp.ron", "squares.dxbc"), ("b.dxcomp.ron", "squares.dxil")] {
        stage.write(
            path,
            format!(
                r#"(
                    shader: "{shader}",
                    constants: {{ "Number": 40, "Scale": 2.0 }},
                    buffers: {{
                        "Factors": (type: F32, data: [1, 2, 0.5, 4], format: "R32Float"),
                        "Results": (size: 256),
                        "Sum": (size: 4, clear: true),
                    }},
                    dispatch: (4, 1, 1),
                    run: Once,
                    readback: ["Results", "Sum"],
                )"#
            ),
        );
        let read = Arc::new(Mutex::new(Vec::<(String, Vec<u32>)>::new()));
        let into = read.clone();
        let program = stage.app.world().resource::<AssetServer>().load(path);
        stage.app.world_mut().spawn(DxDispatch(program)).observe(move |readback: On<DxComputeReadback>| {
            into.lock().unwrap().push((readback.name.clone(), readback.u32s()));
        });
        let seen = |name: &str| read.lock().unwrap().iter().any(|(of, _)| of == name);
        stage.until("what was written", |_| seen("Results") && seen("Sum"));
        for _ in 0..20 {
            stage.app.update();
        }
        let mut read = read.lock().unwrap().clone();
        // Once is once, not once a frame. The watcher can have a new file read twice, and what is read anew runs anew.
        assert!(read.len() <= 6, "{} buffers were read back", read.len());
        read.sort();
        read.dedup();
        let factors = [1.0, 2.0, 0.5, 4.0];
        let squares: Vec<u32> = (0..64u32)
            .map(|i| if i < 40 { ((i * i) as f32 * 2.0 * factors[i as usize % 4]) as u32 } else { 0 })
            .collect();
        assert_eq!(
            read,
            [("Results".to_owned(), squares.clone()), ("Sum".to_owned(), vec![squares.iter().sum()])],
            "{shader}"
        );
    }
}
