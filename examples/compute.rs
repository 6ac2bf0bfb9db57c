//! Compute shaders fill images that are shown, and count pixels that are read back: on the left the shader that fxc made
//! (DXBC), on the right the one that dxc made (DXIL). They are in `assets/compute`; edit and compile them while this runs.
//!
//!     cargo run --example compute
//!     cargo run --example compute -- --headless picture.png

mod common;

use bevy::prelude::*;
use bevy_dxshader::plugin::{DxComputeReadback, DxDispatch, DxMaterial, DxMaterial3d, material::SamplerDescription};
use common::{Canvas, Output, Studio};

/// What the two programs counted last: pixels by brightness.
#[derive(Resource, Default)]
struct Histograms([Vec<u32>; 2]);

fn main() {
    let output = Output::from_arguments("compute");
    let mut app = common::app("DXBC on the left, DXIL on the right", &output, &common::assets());
    app.insert_resource(ClearColor(Color::srgb(0.02, 0.025, 0.04)));
    app.init_resource::<Histograms>().add_systems(Startup, setup);
    match output {
        Output::Window => {
            app.run();
        }
        Output::File(path) => {
            let mut studio = Studio::new(app);
            studio.frames(1, 2.5);
            studio.until("the materials", common::materials_are_loaded);
            studio.until("the histograms", |world| {
                let Histograms(counts) = world.resource();
                counts.iter().all(|counts| counts.iter().sum::<u32>() == 512 * 512)
            });
            let Histograms([dxbc, dxil]) = studio.app.world().resource();
            println!("pixels by brightness, DXBC: {dxbc:?}");
            println!("pixels by brightness, DXIL: {dxil:?}");
            let picture = studio.picture();
            common::save(&picture, &path);
        }
    }
}

fn setup(mut commands: Commands, assets: Res<AssetServer>, mut meshes: ResMut<Assets<Mesh>>, canvas: Res<Canvas>) {
    let mesh = meshes.add(Rectangle::new(1.9, 1.9));
    for (side, file) in ["compute/plasma_dxbc.dxcomp.ron", "compute/plasma_dxil.dxcomp.ron"].into_iter().enumerate() {
        commands.spawn(DxDispatch(assets.load(file))).observe(
            move |readback: On<DxComputeReadback>, mut histograms: ResMut<Histograms>| {
                histograms.0[side] = readback.u32s();
            },
        );
        // A material made in code, around the image that the program writes.
        let material = DxMaterial {
            vertex: assets.load("compute/show_vs.dxbc"),
            pixel: assets.load("compute/show_ps.dxbc"),
            textures: [("Shown".to_owned(), assets.load(format!("{file}#Image")))].into_iter().collect(),
            samplers: [("Smooth".to_owned(), SamplerDescription::default())].into_iter().collect(),
            ..default()
        };
        let material = assets.add(material);
        commands.spawn((
            Mesh3d(mesh.clone()),
            DxMaterial3d(material),
            Transform::from_xyz(2.0 * side as f32 - 1.0, 0.0, 0.0),
        ));
    }
    commands.spawn(canvas.camera(Transform::from_xyz(0.0, 0.0, 2.8).looking_at(Vec3::ZERO, Vec3::Y)));
}
