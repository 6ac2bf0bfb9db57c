//! One object under the shaders that fxc made (DXBC), beside the same object under those that dxc made (DXIL): they look
//! the same. The shaders are in `assets/ported_material`; edit and compile them while this runs.
//!
//!     cargo run --example ported_material
//!     cargo run --example ported_material -- --headless picture.png

mod common;

use bevy::prelude::*;
use bevy_dxshader::plugin::{DxMaterial, DxMaterial3d};
use common::{Canvas, Output, Studio};

fn main() {
    let output = Output::from_arguments("ported_material");
    let mut app = common::app("DXBC on the left, DXIL on the right", &output, &common::assets());
    app.insert_resource(ClearColor(Color::srgb(0.02, 0.025, 0.04)));
    app.add_systems(Startup, setup).add_systems(Update, turn);
    match output {
        Output::Window => {
            app.run();
        }
        Output::File(path) => {
            let mut studio = Studio::new(app);
            studio.until("the materials", |world| {
                let materials: Vec<_> =
                    world.query::<&DxMaterial3d>().iter(world).map(|material| material.0.clone()).collect();
                !materials.is_empty() && materials.iter().all(|material| common::is_loaded(world, material))
            });
            studio.frames(30, 1.0 / 30.0);
            let picture = studio.picture();
            common::save(&picture, &path);
        }
    }
}

/// Turns around its axis.
#[derive(Component)]
struct Turning;

fn setup(mut commands: Commands, assets: Res<AssetServer>, mut meshes: ResMut<Assets<Mesh>>, canvas: Res<Canvas>) {
    let mesh = meshes.add(Torus::new(0.45, 1.0).mesh().major_resolution(96).minor_resolution(48));
    let files = ["ported_material/lit_dxbc.dxmat.ron", "ported_material/lit_dxil.dxmat.ron"];
    for (file, x) in files.into_iter().zip([-1.25, 1.25]) {
        let material: Handle<DxMaterial> = assets.load(file);
        commands.spawn((
            Mesh3d(mesh.clone()),
            DxMaterial3d(material),
            Transform::from_xyz(x, 0.0, 0.0).with_rotation(Quat::from_rotation_x(0.9)),
            Turning,
        ));
    }
    commands.spawn(canvas.camera(Transform::from_xyz(0.0, 1.2, 4.6).looking_at(Vec3::new(0.0, -0.1, 0.0), Vec3::Y)));
}

fn turn(time: Res<Time>, mut turning: Query<&mut Transform, With<Turning>>) {
    for mut transform in &mut turning {
        transform.rotate_local_y(0.6 * time.delta_secs());
    }
}
