//! One object under the shaders that fxc made (DXBC), beside the same object under those that dxc made (DXIL): they look
//! the same. The shaders are in `assets/ported_material`; edit and compile them while this runs.
//!
//!     cargo run --example ported_material
//!     cargo run --example ported_material -- --headless picture.png

mod common;

use bevy::{
    camera::{Viewport, visibility::RenderLayers},
    prelude::*,
};
use bevy_dxshader::plugin::{DxMaterial, DxMaterial3d};
use common::{Canvas, Output, Studio};

fn main() {
    let output = Output::from_arguments("ported_material");
    let mut app = common::app("DXBC on the left, DXIL on the right", &output, &common::assets());
    app.insert_resource(ClearColor(Color::srgb(0.02, 0.025, 0.04)));
    app.add_systems(Startup, setup).add_systems(Update, (turn, fit_viewports));
    match output {
        Output::Window => {
            app.run();
        }
        Output::File(path) => {
            let mut studio = Studio::new(app);
            studio.until("the materials", common::materials_are_loaded);
            studio.frames(30, 1.0 / 30.0);
            let picture = studio.picture();
            println!("the halves differ by at most {} of 255", common::greatest_difference_of_halves(&picture));
            common::save(&picture, &path);
        }
    }
}

/// Turns around its axis.
#[derive(Component)]
struct Turning;

/// Which half of the canvas a camera draws to.
#[derive(Component)]
struct Half(u32);

fn setup(mut commands: Commands, assets: Res<AssetServer>, mut meshes: ResMut<Assets<Mesh>>, canvas: Res<Canvas>) {
    let mesh = meshes.add(Torus::new(0.45, 1.0).mesh().major_resolution(96).minor_resolution(48));
    // Two worlds in one place, each with its camera: both objects are seen from the same side.
    for (half, file) in
        ["ported_material/lit_dxbc.dxmat.ron", "ported_material/lit_dxil.dxmat.ron"].into_iter().enumerate()
    {
        let layer = RenderLayers::layer(half + 1);
        let material: Handle<DxMaterial> = assets.load(file);
        let transform = Transform::from_rotation(Quat::from_rotation_x(0.9));
        commands.spawn((Mesh3d(mesh.clone()), DxMaterial3d(material), transform, Turning, layer.clone()));
        let transform = Transform::from_xyz(0.0, 1.2, 3.6).looking_at(Vec3::new(0.0, -0.1, 0.0), Vec3::Y);
        let clear_color = if half == 0 { ClearColorConfig::Default } else { ClearColorConfig::None };
        commands.spawn((
            canvas.camera(transform),
            Camera { order: half as isize, clear_color, ..default() },
            Half(half as u32),
            layer,
        ));
    }
}

fn turn(time: Res<Time>, mut turning: Query<&mut Transform, With<Turning>>) {
    for mut transform in &mut turning {
        transform.rotate_local_y(0.6 * time.delta_secs());
    }
}

/// Gives each camera its half, whatever the size of the window.
fn fit_viewports(mut cameras: Query<(&mut Camera, &Half)>) {
    for (mut camera, Half(half)) in &mut cameras {
        let Some(size) = camera.physical_target_size() else { continue };
        let physical_size = UVec2::new(size.x / 2, size.y).max(UVec2::ONE);
        let physical_position = UVec2::new(half * (size.x / 2), 0);
        if camera.viewport.as_ref().is_none_or(|viewport| viewport.physical_size != physical_size) {
            camera.viewport = Some(Viewport { physical_position, physical_size, ..default() });
        }
    }
}
