//! Reflection of our own shaders: against the compilers' own, of both formats against each other, and of stripped files.

mod describe;
mod listing;
mod listings;
mod stripped;

use std::{collections::BTreeMap, fs, path::Path};

use bevy_dxshader::{
    container::FourCc,
    reflect,
    reflection::{BufferLayout, Field, FieldScalar, FieldShape, Format, SignatureElement},
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

/// The tokens declare the registers and system values of stripped signatures.
#[test]
fn tokens_replace_signatures() {
    for name in ["varyings.dxbc", "varyings_4_0.dxbc", "constants.dxbc"] {
        let bytes = fixture(name);
        let full = reflect(&bytes).unwrap();
        let stripped = reflect(&stripped::without(&bytes, &[FourCc::ISGN, FourCc::OSGN]).unwrap()).unwrap();
        let registers = |elements: &[SignatureElement]| {
            let mut masks = BTreeMap::<_, u8>::new();
            for element in elements.iter().filter(|element| element.used_mask != 0) {
                for row in 0..element.rows {
                    *masks.entry(element.register.map(|register| register + row)).or_default() |= element.used_mask;
                }
            }
            masks
        };
        let [full, stripped] = [full, stripped].map(|mut interface| interface.entry_points.remove(0));
        assert_eq!(registers(&stripped.inputs), registers(&full.inputs), "{name}");
        assert_eq!(registers(&stripped.outputs), registers(&full.outputs), "{name}");
    }
}

/// What both compilers make of one source tells the same.
#[test]
fn both_formats_agree() {
    for name in ["constants", "resources", "spaces", "varyings", "streams", "patch", "depth"] {
        let dxbc = reflect(&fixture(&format!("{name}.dxbc"))).unwrap();
        let dxil = reflect(&fixture(&format!("{name}.dxil"))).unwrap();
        assert_eq!(dxil.format, Format::Dxil);
        assert_eq!(dxil.stage, dxbc.stage, "{name}");

        let (dxbc_entry, dxil_entry) = (&dxbc.entry_points[0], &dxil.entry_points[0]);
        let mut facts = dxil_entry.facts.clone();
        // fxc leaves the default of 64 and, as here, lower limits undeclared.
        facts.primitives.max_tessellation_factor = dxbc_entry.facts.primitives.max_tessellation_factor;
        assert_eq!(facts, dxbc_entry.facts, "{name}");

        // By semantic: dxc packs otherwise.
        let elements = |elements: &[SignatureElement], system_values: bool| {
            let mut found = BTreeMap::new();
            for element in elements {
                for &index in &element.semantic_indices {
                    let system_value = system_values.then_some(element.system_value);
                    let value = (element.mask.count_ones(), element.component, element.stream, system_value);
                    found.insert((element.semantic.to_uppercase(), index), value);
                }
            }
            found
        };
        let signatures = [
            (&dxbc_entry.inputs, &dxil_entry.inputs),
            (&dxbc_entry.outputs, &dxil_entry.outputs),
            (&dxbc_entry.patch_constants, &dxil_entry.patch_constants),
        ];
        for (dxbc, dxil) in signatures {
            assert_eq!(elements(dxil, true), elements(dxbc, true), "{name}");
        }

        for binding in &dxbc.bindings {
            // fxc lists the elements of an array that are used, each by itself.
            let label = binding.name.as_deref().unwrap().split('[').next().unwrap();
            let other = dxil.bindings.iter().find(|other| other.name.as_deref() == Some(label));
            let other = other.unwrap_or_else(|| panic!("{name}: {label} is missing"));
            assert_eq!(other.kind, binding.kind, "{name}: {label}");
            assert_eq!((other.class, other.space), (binding.class, binding.space), "{name}: {label}");
            if binding.name.as_deref() == Some(label) {
                assert_eq!((other.register, other.count), (binding.register, binding.count), "{name}: {label}");
            }
            let shape = |layout: &Option<BufferLayout>| {
                layout.clone().map(|mut layout| {
                    layout.fields.iter_mut().for_each(plain);
                    layout
                })
            };
            assert_eq!(shape(&other.layout), shape(&binding.layout), "{name}: {label}");
        }
    }
}

/// A field without what only one of the compilers tells: defaults, use, names of types, and signs of bare elements.
fn plain(field: &mut Field) {
    field.default_value = None;
    field.used = None;
    field.ty.name = None;
    if let FieldShape::Struct(members) = &mut field.ty.shape {
        members.iter_mut().for_each(plain);
    }
    if field.name == "$Element" {
        match &mut field.ty.shape {
            FieldShape::Scalar(scalar) | FieldShape::Vector(scalar, _) if *scalar == FieldScalar::U32 => {
                *scalar = FieldScalar::I32;
            }
            _ => {}
        }
    }
}
