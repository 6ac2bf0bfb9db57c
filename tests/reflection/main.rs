//! Reflection of our own shaders: against the compilers' own, of both formats against each other, and of stripped files.

mod describe;
mod formats;
mod listing;
mod listings;
mod stripped;

use std::{collections::BTreeMap, fs, path::Path};

use bevy_dxshader::{
    reflect,
    reflection::{Field, FieldShape},
};

fn fixture(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/reflection").join(name)).unwrap()
}

#[test]
fn spaces_and_defaults() {
    let interface = reflect(&fixture("spaces.dxbc")).unwrap();
    let spaces: BTreeMap<_, _> =
        interface.bindings.iter().map(|binding| (binding.name.as_deref().unwrap(), binding.space)).collect();
    let expected = [("draws", 2), ("samplers", 5), ("single", 0), ("targets", 3), ("textures", 1)];
    assert_eq!(spaces, expected.into());

    let interface = reflect(&fixture("constants.dxbc")).unwrap();
    let material = interface.bindings.iter().find(|binding| binding.name.as_deref() == Some("Material")).unwrap();
    let fields = &material.layout.as_ref().unwrap().fields;
    let floats = |field: &Field| {
        let bytes = field.default_value.as_ref().unwrap();
        bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect::<Vec<_>>()
    };
    assert_eq!(floats(&fields[0]), [1.0, 0.5, 0.25, 1.0]);
    assert_eq!(floats(&fields[1]), [0.75]);

    // Sizes of members are not stored: these follow from the rules of packing.
    let frame = interface.bindings.iter().find(|binding| binding.name.as_deref() == Some("Frame")).unwrap();
    let scene = &frame.layout.as_ref().unwrap().fields[0];
    let FieldShape::Struct(members) = &scene.ty.shape else { panic!("{scene:?}") };
    assert_eq!((members[0].size, members[0].ty.stride), (420, 144));
    let FieldShape::Struct(members) = &members[0].ty.shape else { panic!("{members:?}") };
    let extents = members.iter().map(|member| (member.offset, member.size)).collect::<Vec<_>>();
    assert_eq!(extents, [(0, 12), (12, 4), (16, 64), (80, 28), (112, 20)]);
}
