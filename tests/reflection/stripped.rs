//! Stripped files reflect as whole ones do, except for what only the stripped parts hold.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use bevy_dxshader::{
    container::{Container, FourCc, ProgramHeader},
    reflect,
    reflection::{
        Binding, ComponentType, Format, Interface, Interpolation, ResourceClass, ResourceKind, ShaderModel,
        SignatureElement, Stage, SystemValue,
    },
};

/// The bytes with the names of parts made unknown, as if the parts had been stripped; `None` if there is none of them.
pub fn without(bytes: &[u8], parts: &[FourCc]) -> Option<Vec<u8>> {
    let container = Container::parse(bytes).unwrap();
    let mut stripped = bytes.to_vec();
    for part in container.parts().filter(|part| parts.contains(&part.name)) {
        stripped[part.offset - 8..part.offset - 4].copy_from_slice(b"none");
    }
    (stripped != bytes).then_some(stripped)
}

/// The interface without what a file may lose with the parts that describe it:
///
/// * names of bindings, and with them the layouts of buffers, whose variables have nothing but names to be known by;
/// * names of interfaces;
/// * subobjects of a library, which are in `RDAT` alone;
/// * the order of bindings, where another part lists them;
/// * of DXBC's typed resources the number of a texel's components: tokens declare four types, and fxc makes them the same;
/// * that a buffer of DXBC is a `tbuffer`: tokens declare a typed buffer of mixed types; of DXIL, its size.
///
/// Sizes of DXBC's constant buffers are compared by [`compare_sizes`].
fn nameless(mut interface: Interface) -> Interface {
    let dxbc = interface.format == Format::Dxbc;
    for binding in &mut interface.bindings {
        binding.name = None;
        binding.layout = None;
        match &mut binding.kind {
            ResourceKind::Texture { components, .. } | ResourceKind::TypedBuffer { components, .. } if dxbc => {
                *components = 4
            }
            kind @ ResourceKind::TextureBuffer { .. } if dxbc => {
                let component = ComponentType::Unknown;
                *kind = ResourceKind::TypedBuffer { component, components: 4, flags: Default::default() };
            }
            ResourceKind::TextureBuffer { size } => *size = 0,
            _ => {}
        }
    }
    interface.subobjects.clear();
    for slots in &mut interface.class_linkage.interfaces {
        slots.name = format!("fp{}", slots.slot);
    }
    interface.bindings.sort_by_key(place);
    interface
}

fn place(binding: &Binding) -> (ResourceClass, u32, u32) {
    (binding.class, binding.space, binding.register)
}

/// Before Shader Model 5.1, tokens declare the registers of an array that the program uses, each by itself. Gives the array
/// these bindings.
fn split_arrays(whole: &mut Interface, stripped: &Interface) {
    for binding in std::mem::take(&mut whole.bindings) {
        match binding.count {
            Some(count @ 2..) => {
                let registers = binding.register..binding.register + count;
                let used = registers.filter(|&register| stripped.binding_at(binding.class, 0, register).is_some());
                whole.bindings.extend(used.map(|register| Binding { register, count: Some(1), ..binding.clone() }));
            }
            _ => whole.bindings.push(binding),
        }
    }
}

/// Tokens declare a constant buffer up to the last row that the program reads; or all of it, where rows are found while it
/// runs. Takes the sizes away.
fn compare_sizes(whole: &mut Interface, stripped: &mut Interface, faults: &mut Vec<String>) {
    let mut sizes = whole
        .bindings
        .iter_mut()
        .filter_map(|binding| {
            let place = place(binding);
            let ResourceKind::ConstantBuffer { size } = &mut binding.kind else { return None };
            Some((place, std::mem::take(size)))
        })
        .collect::<BTreeMap<_, _>>();
    for binding in &mut stripped.bindings {
        let place = place(binding);
        if let ResourceKind::ConstantBuffer { size } = &mut binding.kind {
            match sizes.remove(&place) {
                Some(whole) if *size <= whole && (*size > 0 || whole == 0) => {}
                whole => faults.push(format!("{place:?}: stripped {size} bytes, whole {whole:?}")),
            }
            *size = 0;
        }
    }
}

/// What differs between two interfaces, in a few words for each.
fn differences(whole: &Interface, stripped: &Interface, faults: &mut Vec<String>) {
    let mut ours = stripped.bindings.clone();
    for binding in &whole.bindings {
        match ours.iter().position(|other| other == binding) {
            Some(at) => drop(ours.remove(at)),
            None => faults.push(format!("only whole:    {binding:?}")),
        }
    }
    faults.extend(ours.iter().map(|binding| format!("only stripped: {binding:?}")));
    if whole.feature_flags != stripped.feature_flags {
        faults.push(format!("features: whole {:?}, stripped {:?}", whole.feature_flags, stripped.feature_flags));
    }
    if whole.entry_points.len() != stripped.entry_points.len() {
        return faults.push("other entry points".into());
    }
    for (whole, stripped) in whole.entry_points.iter().zip(&stripped.entry_points) {
        if whole.facts != stripped.facts {
            faults.push(format!("{}: facts: whole {:?}, stripped {:?}", whole.name, whole.facts, stripped.facts));
        }
        let signatures = [
            (&whole.inputs, &stripped.inputs),
            (&whole.outputs, &stripped.outputs),
            (&whole.patch_constants, &stripped.patch_constants),
        ];
        for (whole_elements, stripped_elements) in signatures {
            if whole_elements.len() != stripped_elements.len() {
                faults.push(format!(
                    "{}: {} elements, stripped {}",
                    whole.name,
                    whole_elements.len(),
                    stripped_elements.len()
                ));
            }
            for (element, other) in whole_elements.iter().zip(stripped_elements) {
                if element != other {
                    faults.push(format!("{}: whole {element:?}, stripped {other:?}", whole.name));
                }
            }
        }
    }
    let mut rest = [whole.clone(), stripped.clone()];
    for interface in &mut rest {
        interface.bindings.clear();
        interface.entry_points.clear();
        interface.feature_flags = Default::default();
    }
    if rest[0] != rest[1] {
        faults.push("format, model or stage".into());
    }
}

/// What a container loses of its interface, besides what it may.
pub fn losses(bytes: &[u8]) -> Vec<String> {
    let mut faults = Vec::new();
    let Ok(container) = Container::parse(bytes) else { return faults };
    let (Ok(program), Ok(whole)) = (ProgramHeader::find(&container), reflect(bytes)) else { return faults };
    let whole = nameless(whole);
    let mut strip = |parts: &[FourCc], what: &str| {
        let Some(stripped) = without(bytes, parts) else { return };
        let stripped = match reflect(&stripped) {
            Ok(stripped) => stripped,
            Err(error) => return faults.push(format!("without {what}: {error}")),
        };
        let (mut whole, mut stripped) = (whole.clone(), nameless(stripped));
        let mut found = Vec::new();
        if whole.format == Format::Dxbc {
            if whole.shader_model < (ShaderModel { major: 5, minor: 1 }) {
                split_arrays(&mut whole, &stripped);
            }
            compare_sizes(&mut whole, &mut stripped, &mut found);
        }
        differences(&whole, &stripped, &mut found);
        faults.extend(found.into_iter().map(|fault| format!("without {what}: {fault}")));
    };
    match program {
        ProgramHeader::Tokens(_) => strip(&[FourCc::RDEF, FourCc::STAT], "RDEF and STAT"),
        ProgramHeader::Bitcode(_) => {
            strip(&[FourCc::PSV0, FourCc::STAT], "PSV0 and STAT");
            strip(&[FourCc::RDAT], "RDAT");
            let parts = [FourCc::ISG1, FourCc::OSG1, FourCc::PSG1, FourCc::PSV0, FourCc::STAT, FourCc::SFI0];
            strip(&parts, "all parts but the program");
        }
    }
    faults
}

/// Parts of signatures.
const SIGNATURES: [FourCc; 7] =
    [FourCc::ISGN, FourCc::ISG1, FourCc::OSGN, FourCc::OSG1, FourCc::OSG5, FourCc::PCSG, FourCc::PSG1];

/// Streams, registers (or, of what has none, `None`) and components that a signature uses, with their meaning to the pipeline
/// and how they are interpolated.
type Lanes = BTreeMap<(u8, Option<u32>, u8, u8), (SystemValue, Interpolation)>;

fn lanes(elements: &[SignatureElement]) -> Lanes {
    let mut lanes = Lanes::new();
    for element in elements {
        for row in 0..element.rows {
            for lane in (0..4).filter(|lane| element.used_mask >> lane & 1 == 1) {
                let register = element.register.map(|register| register + row);
                // What has no register is known by its meaning.
                let value = if register.is_none() { element.system_value as u8 } else { 0 };
                lanes.insert((element.stream, register, value, lane), (element.system_value, element.interpolation));
            }
        }
    }
    lanes
}

/// What a container of DXBC loses with its signature parts, besides semantics, types and packing, and
///
/// * what tokens need not declare: the control points that a hull shader without a phase for them passes through;
/// * system values of vertices and control points that come in, and of control points that go out: they mean nothing to the
///   pipeline there.
///
/// Tokens may declare more than is used: geometry shaders all components of their vertices.
fn lost_signatures(bytes: &[u8]) -> Vec<String> {
    let mut faults = Vec::new();
    let Ok(container) = Container::parse(bytes) else { return faults };
    let (Ok(ProgramHeader::Tokens(_)), Ok(whole)) = (ProgramHeader::find(&container), reflect(bytes)) else {
        return faults;
    };
    let Some(stripped) = without(bytes, &SIGNATURES) else { return faults };
    let stripped = match reflect(&stripped) {
        Ok(stripped) => stripped,
        Err(error) => return vec![format!("without signatures: {error}")],
    };
    let (whole, stripped) = (&whole.entry_points[0], &stripped.entry_points[0]);
    let stage = whole.stage;
    let passed_through = stage == Stage::Hull && stripped.outputs.is_empty();
    for (kind, whole, stripped) in [
        ("input", &whole.inputs, &stripped.inputs),
        ("output", &whole.outputs, &stripped.outputs),
        ("patch constant", &whole.patch_constants, &stripped.patch_constants),
    ] {
        let control_points = match kind {
            "input" => matches!(stage, Stage::Hull | Stage::Domain | Stage::Geometry),
            "output" => stage == Stage::Hull,
            _ => false,
        };
        if control_points && passed_through {
            continue;
        }
        let (whole, stripped) = (lanes(whole), lanes(stripped));
        for (lane, (value, interpolation)) in whole {
            let known = stripped
                .get(&lane)
                .is_some_and(|(other, mode)| (control_points || *other == value) && *mode == interpolation);
            if !known {
                let stripped = stripped.get(&lane);
                faults.push(format!("without signatures: {kind} {lane:?}: {value:?} {interpolation:?}, {stripped:?}"));
            }
        }
    }
    faults
}

/// The compiled shaders of a folder and of those in it.
pub fn shaders(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            shaders(&path, found);
        } else if path
            .extension()
            .is_some_and(|extension| ["dxbc", "dxil", "cso", "fxo"].map(AsRef::as_ref).contains(&extension))
        {
            found.push(path);
        }
    }
}

fn keep_their_interfaces(paths: &[PathBuf]) {
    let mut faults = Vec::new();
    for path in paths {
        let bytes = fs::read(path).unwrap();
        let found = losses(&bytes).into_iter().chain(lost_signatures(&bytes));
        faults.extend(found.map(|fault| format!("{}: {fault}", path.display())));
    }
    println!("{} files", paths.len());
    let shown = std::env::var("SHOWN").map_or(40, |shown| shown.parse().unwrap());
    let shown = faults.iter().take(shown).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(faults.is_empty(), "{} differences:\n{shown}", faults.len());
}

#[test]
fn fixtures_keep_their_interfaces() {
    let mut paths = Vec::new();
    shaders(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures"), &mut paths);
    keep_their_interfaces(&paths);
}

/// Real shaders of public projects, which lie beside the repository where they are at all.
#[test]
fn corpus_keeps_its_interfaces() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    if !folder.is_dir() {
        eprintln!("skipped: there is no corpus at {}", folder.display());
        return;
    }
    let mut paths = Vec::new();
    shaders(&folder, &mut paths);
    keep_their_interfaces(&paths);
}
