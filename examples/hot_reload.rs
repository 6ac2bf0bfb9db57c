//! Swaps a shader's file while the app runs: every two seconds the other pixel shader of `assets/hot_reload/ring.hlsl` is
//! written over the one that is drawn, in a copy of that folder; now and then a broken file, which changes nothing but for an
//! error in the log. The two have different constant buffers: the interface changes with the file.
//!
//!     cargo run --example hot_reload
//!     cargo run --example hot_reload -- --headless picture.png      # before and after, side by side

mod common;

use std::path::{Path, PathBuf};

use bevy::prelude::*;
use bevy_dxshader::plugin::{DxMaterial, DxMaterial3d};
use common::{Canvas, Output, Studio};

/// The copy of the assets.
#[derive(Resource)]
struct Copy {
    folder: PathBuf,
    timer: Timer,
    swaps: usize,
}

fn main() -> std::io::Result<()> {
    let output = Output::from_arguments("hot_reload");
    let copy = std::env::temp_dir().join(format!("bevy_dxshader_hot_reload_{}", std::process::id()));
    std::fs::create_dir_all(&copy)?;
    for file in std::fs::read_dir(common::assets().join("hot_reload"))? {
        let file = file?;
        std::fs::copy(file.path(), copy.join(file.file_name()))?;
    }
    write_shader(&copy, "before_ps.dxbc")?;

    let mut app = common::app("edit the shader, or watch it being swapped", &output, &copy);
    app.insert_resource(ClearColor(Color::srgb(0.02, 0.025, 0.04)));
    app.add_systems(Startup, setup);
    match output {
        Output::Window => {
            println!("the shader is {}", copy.join("ring_ps.dxbc").display());
            let timer = Timer::from_seconds(2.0, TimerMode::Repeating);
            app.insert_resource(Copy { folder: copy.clone(), timer, swaps: 0 }).add_systems(Update, swap).run();
        }
        Output::File(path) => {
            let mut studio = Studio::new(app);
            studio.until("the material", common::materials_are_loaded);
            studio.frames(5, 0.0);
            let before = studio.picture();

            // A broken file first: the picture stays.
            std::fs::write(copy.join("ring_ps.dxbc"), "half of a shad")?;
            for _ in 0..100 {
                studio.frames(1, 0.0);
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            let broken = studio.picture();
            println!("a broken file left the picture as it was: {}", broken.data == before.data);

            let start = std::time::Instant::now();
            write_shader(&copy, "after_ps.dxbc")?;
            let mut after = studio.picture();
            while after.data == before.data {
                if start.elapsed().as_secs() > 30 {
                    eprintln!("the new shader did not show up");
                    std::process::exit(1);
                }
                std::thread::sleep(std::time::Duration::from_millis(10));
                after = studio.picture();
            }
            println!("from the file to the picture: {:.2} s", start.elapsed().as_secs_f32());
            common::save(&beside(&before, &after), &path);
        }
    }
    std::fs::remove_dir_all(copy)
}

/// Writes one of the pixel shaders over the one that is drawn.
fn write_shader(folder: &Path, shader: &str) -> std::io::Result<()> {
    std::fs::copy(folder.join(shader), folder.join("ring_ps.dxbc")).map(|_| ())
}

fn setup(mut commands: Commands, assets: Res<AssetServer>, mut meshes: ResMut<Assets<Mesh>>, canvas: Res<Canvas>) {
    let material: Handle<DxMaterial> = assets.load("ring.dxmat.ron");
    let mesh = meshes.add(Cuboid::new(1.6, 1.6, 1.6));
    let rotation = Quat::from_rotation_x(0.5) * Quat::from_rotation_y(0.7);
    commands.spawn((Mesh3d(mesh), DxMaterial3d(material), Transform::from_rotation(rotation)));
    commands.spawn(canvas.camera(Transform::from_xyz(0.0, 0.0, 4.0).looking_at(Vec3::ZERO, Vec3::Y)));
}

fn swap(time: Res<Time>, mut copy: ResMut<Copy>) {
    if !copy.timer.tick(time.delta()).just_finished() {
        return;
    }
    copy.swaps += 1;
    let written = match copy.swaps % 5 {
        0 => std::fs::write(copy.folder.join("ring_ps.dxbc"), "half of a shad"),
        1 | 3 => write_shader(&copy.folder, "after_ps.dxbc"),
        _ => write_shader(&copy.folder, "before_ps.dxbc"),
    };
    if let Err(error) = written {
        error!("{}: {error}", copy.folder.display());
    }
}

/// The middle half of one picture beside that of another.
fn beside(left: &Image, right: &Image) -> Image {
    let mut picture = left.clone();
    let (width, height) = (left.width() as usize, left.height() as usize);
    let (Some(out), Some(left), Some(right)) = (&mut picture.data, &left.data, &right.data) else { return picture };
    for y in 0..height {
        for x in 0..width {
            let (from, of) = if x < width / 2 { (x + width / 4, left) } else { (x - width / 4, right) };
            let (to, from) = (4 * (y * width + x), 4 * (y * width + from));
            out[to..to + 4].copy_from_slice(&of[from..from + 4]);
        }
    }
    picture
}
