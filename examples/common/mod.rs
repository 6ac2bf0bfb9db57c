//! What the examples share: a window where there is a display, a picture in a file where there is none.
#![allow(dead_code, reason = "each example uses its part")]

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use bevy::{
    app::PluginsState,
    asset::RenderAssetUsages,
    camera::RenderTarget,
    core_pipeline::tonemapping::Tonemapping,
    prelude::*,
    render::{
        RenderPlugin,
        pipelined_rendering::PipelinedRenderingPlugin,
        render_resource::{TextureFormat, TextureUsages},
        settings::{InstanceFlags, WgpuSettings},
        view::screenshot::{Screenshot, ScreenshotCaptured},
    },
    time::TimeUpdateStrategy,
    window::ExitCondition,
    winit::WinitPlugin,
};
use bevy_dxshader::plugin::{DxMaterial3d, DxShaderPlugin};

/// Size of the pictures, in pixels.
pub const SIZE: UVec2 = UVec2::new(960, 540);

/// Where an example draws.
pub enum Output {
    /// A window.
    Window,
    /// A PNG file.
    File(PathBuf),
}

impl Output {
    /// From the command line: `--headless [out.png]`; a file too where there is no display.
    pub fn from_arguments(name: &str) -> Self {
        let mut arguments = std::env::args().skip(1);
        // Sessions of Wayland have a DISPLAY as well, through Xwayland; the examples are built for that alone.
        let has_display =
            !cfg!(target_os = "linux") || std::env::var_os("DISPLAY").is_some_and(|display| !display.is_empty());
        let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("target").join(format!("{name}.png"));
        match arguments.next().as_deref() {
            Some("--headless") => Self::File(arguments.next().map_or_else(default, PathBuf::from)),
            Some(other) => {
                eprintln!("usage: {name} [--headless [out.png]]; what is `{other}`?");
                std::process::exit(2);
            }
            None if has_display => Self::Window,
            None => Self::File(default()),
        }
    }
}

/// Where cameras draw: the window if `None`.
#[derive(Resource, Clone)]
pub struct Canvas(pub Option<Handle<Image>>);

impl Canvas {
    /// A camera that draws there.
    pub fn camera(&self, transform: Transform) -> impl Bundle {
        let target = match &self.0 {
            Some(image) => RenderTarget::Image(image.clone().into()),
            None => RenderTarget::default(),
        };
        (Camera3d::default(), target, Tonemapping::None, transform)
    }
}

/// The folder of the examples' assets.
pub fn assets() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets")
}

/// An app with Bevy's plugins and ours.
pub fn app(name: &str, output: &Output, assets: &Path) -> App {
    let mut app = App::new();
    let assets = AssetPlugin {
        file_path: assets.to_string_lossy().into_owned(),
        watch_for_changes_override: Some(true),
        ..default()
    };
    match output {
        Output::Window => {
            let window = Window { title: format!("bevy_dxshader: {name}"), resolution: SIZE.into(), ..default() };
            let window = WindowPlugin { primary_window: Some(window), ..default() };
            app.add_plugins((DefaultPlugins.set(assets).set(window), DxShaderPlugin::default()));
            app.insert_resource(Canvas(None));
        }
        Output::File(_) => {
            app.add_plugins(
                DefaultPlugins
                    .set(assets)
                    .set(RenderPlugin {
                        synchronous_pipeline_compilation: true,
                        // Without the driver's validation layers, which only some machines have.
                        render_creation: WgpuSettings { instance_flags: InstanceFlags::empty(), ..default() }.into(),
                        ..default()
                    })
                    .set(WindowPlugin { primary_window: None, exit_condition: ExitCondition::DontExit, ..default() })
                    .disable::<WinitPlugin>()
                    .disable::<PipelinedRenderingPlugin>(),
            );
            app.add_plugins(DxShaderPlugin { synchronous_pipeline_compilation: true, ..default() });
            // Time stands until the picture is taken, so that it is the same each time.
            app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::ZERO));
            let mut image = Image::new_target_texture(SIZE.x, SIZE.y, TextureFormat::Rgba8UnormSrgb, None);
            image.texture_descriptor.usage |= TextureUsages::COPY_SRC;
            image.asset_usage = RenderAssetUsages::all();
            let image = app.world_mut().resource_mut::<Assets<Image>>().add(image);
            app.insert_resource(Canvas(Some(image)));
        }
    }
    app
}

/// An app that draws to files, a frame at a time.
pub struct Studio {
    pub app: App,
}

impl Studio {
    /// Starts an app that [`app`] made for a file.
    pub fn new(mut app: App) -> Self {
        while app.plugins_state() == PluginsState::Adding {
            bevy::tasks::tick_global_task_pools_on_main_thread();
        }
        app.finish();
        app.cleanup();
        Self { app }
    }

    /// Runs frames until something holds; gives up after a minute.
    pub fn until(&mut self, what: &str, mut condition: impl FnMut(&mut World) -> bool) {
        let start = std::time::Instant::now();
        loop {
            self.app.update();
            if condition(self.app.world_mut()) {
                return;
            }
            if start.elapsed() > Duration::from_secs(60) {
                eprintln!("gave up waiting for {what}");
                std::process::exit(1);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Runs a number of frames of this many seconds each.
    pub fn frames(&mut self, count: usize, seconds: f32) {
        self.app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f32(seconds)));
        for _ in 0..count {
            self.app.update();
        }
        self.app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::ZERO));
    }

    /// What the canvas shows.
    pub fn picture(&mut self) -> Image {
        let canvas = self.app.world().resource::<Canvas>().0.clone().expect("an app that draws to a file");
        let taken: Arc<Mutex<Option<Image>>> = default();
        let slot = taken.clone();
        self.app.world_mut().spawn(Screenshot::image(canvas)).observe(move |event: On<ScreenshotCaptured>| {
            *slot.lock().expect("no other thread panicked") = Some(event.image.clone());
        });
        let mut image = None;
        self.until("the picture", |_| {
            image = taken.lock().expect("no other thread panicked").take();
            image.is_some()
        });
        image.expect("taken")
    }
}

/// Writes a picture, and says where.
pub fn save(image: &Image, path: &Path) {
    let written = path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(|error| error.to_string());
    let written = written.and_then(|()| image.clone().try_into_dynamic().map_err(|error| error.to_string()));
    match written.and_then(|image| image.to_rgb8().save(path).map_err(|error| error.to_string())) {
        Ok(()) => println!("the picture is {}", path.display()),
        Err(error) => {
            eprintln!("{}: {error}", path.display());
            std::process::exit(1);
        }
    }
}

/// Whether the materials of all entities are loaded, with all that they name.
pub fn materials_are_loaded(world: &mut World) -> bool {
    let materials: Vec<_> = world.query::<&DxMaterial3d>().iter(world).map(|material| material.0.clone()).collect();
    let server = world.resource::<AssetServer>();
    !materials.is_empty() && materials.iter().all(|material| server.is_loaded_with_dependencies(material))
}

/// The greatest difference of any channel between the left half of a picture and the right.
pub fn greatest_difference_of_halves(image: &Image) -> u8 {
    let row = 4 * image.width() as usize;
    let rows = image.data.iter().flat_map(|data| data.chunks_exact(row));
    let differences = rows.flat_map(|row| {
        let (left, right) = row.split_at(row.len() / 2);
        left.iter().zip(right).map(|(left, right)| left.abs_diff(*right))
    });
    differences.max().unwrap_or(0)
}
