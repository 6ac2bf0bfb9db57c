//! One HLSL through fxc and through dxc tells the same of itself.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use bevy_dxshader::{
    container::FeatureFlags,
    reflect,
    reflection::{
        Binding, BufferLayout, ComponentType, Field, FieldShape, Format, Interface, Interpolation, MinPrecision,
        ResourceKind, SignatureElement, SystemValue,
    },
};

/// A compiler's command at the beginning of an HLSL file, see `tests/fixtures/build.sh`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Command {
    /// Stage, entry point and macros: commands that share these compile the same.
    source: (String, String, BTreeSet<String>),
    output: String,
    /// Options that change the source's meaning.
    special: bool,
}

impl Command {
    fn read(line: &str) -> Option<(&str, Self)> {
        let (tool, options) = line.strip_prefix("// ")?.split_once(" -")?;
        let mut command = Self { source: (String::new(), "main".into(), BTreeSet::new()), ..Self::default() };
        let mut words = options.split_whitespace();
        let mut option = words.next()?;
        loop {
            match option.trim_start_matches('-') {
                "T" => command.source.0 = words.next()?[..2].into(),
                "E" => command.source.1 = words.next()?.into(),
                "D" => drop(command.source.2.insert(words.next()?.into())),
                "Fo" => command.output = words.next()?.into(),
                // Halves and 16-bit integers instead of minimum precision; files without names.
                "enable-16bit-types" | "Qstrip_reflect" => command.special = true,
                _ => {}
            }
            match words.next() {
                Some(next) => option = next,
                None => break,
            }
        }
        (matches!(tool, "fxc" | "dxc") && command.source.0 != "li" && !command.special).then_some((tool, command))
    }
}

/// Files that both compilers made of the same source: of DXBC and of DXIL.
fn pairs() -> Vec<(PathBuf, PathBuf)> {
    let mut sources = Vec::new();
    find(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures"), &mut sources);
    let mut pairs = Vec::new();
    for path in sources {
        let text = fs::read_to_string(&path).unwrap();
        let commands = text.lines().filter_map(Command::read).collect::<Vec<_>>();
        let of = |wanted: &str| {
            commands.iter().filter(move |(tool, _)| *tool == wanted).map(|(_, command)| command).collect::<Vec<_>>()
        };
        for dxbc in of("fxc") {
            for dxil in of("dxc").into_iter().filter(|dxil| dxil.source == dxbc.source) {
                let [dxbc, dxil] = [dxbc, dxil].map(|command| path.with_file_name(&command.output));
                if dxbc.is_file() && dxil.is_file() {
                    pairs.push((dxbc, dxil));
                }
            }
        }
    }
    pairs
}

fn find(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            find(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "hlsl") {
            found.push(path);
        }
    }
}

#[test]
fn both_compilers_agree() {
    let pairs = pairs();
    let mut faults = Vec::new();
    for (dxbc, dxil) in &pairs {
        let label = dxil.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap().display();
        let with = dxbc.file_name().unwrap().to_str().unwrap();
        let [dxbc, dxil] = [dxbc, dxil].map(|path| reflect(&fs::read(path).unwrap()).unwrap());
        assert_eq!((dxbc.format, dxil.format), (Format::Dxbc, Format::Dxil));
        let mut found = Vec::new();
        compare(&dxbc, &dxil, &mut found);
        faults.extend(found.into_iter().map(|fault| format!("{label} with {with}: {fault}")));
    }
    println!("{} pairs", pairs.len());
    let shown = std::env::var("SHOWN").map_or(40, |shown| shown.parse().unwrap());
    let shown = faults.iter().take(shown).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(faults.is_empty(), "{} differences:\n{shown}", faults.len());
    assert!(pairs.len() >= 180, "{} pairs", pairs.len());
}

fn compare(dxbc: &Interface, dxil: &Interface, faults: &mut Vec<String>) {
    if dxil.stage != dxbc.stage {
        faults.push(format!("{:?} and {:?}", dxbc.stage, dxil.stage));
    }
    let (ours, theirs) = (&dxbc.entry_points[0], &dxil.entry_points[0]);
    let mut facts = theirs.facts.clone();
    // fxc leaves the default of 64 undeclared, and lower limits too.
    if ours.facts.primitives.max_tessellation_factor.is_none() {
        facts.primitives.max_tessellation_factor = None;
    }
    if facts != ours.facts {
        faults.push(format!("facts: {:?} and {facts:?}", ours.facts));
    }
    // fxc does not say that a program needs more views than Direct3D 11 has.
    const MANY_VIEWS: u64 = FeatureFlags::UAVS_64.0;
    if dxbc.feature_flags.0 | MANY_VIEWS != dxil.feature_flags.0 | MANY_VIEWS {
        faults.push(format!("features: {:?} and {:?}", dxbc.feature_flags, dxil.feature_flags));
    }
    for (kind, dxbc, dxil) in [
        ("inputs", &ours.inputs, &theirs.inputs),
        ("outputs", &ours.outputs, &theirs.outputs),
        ("patch constants", &ours.patch_constants, &theirs.patch_constants),
    ] {
        compare_rows(kind, &rows(dxbc), &rows(dxil), faults);
    }
    compare_bindings(dxbc, dxil, faults);
}

/// What a signature says of a row, apart from registers and columns: the compilers pack differently.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    components: u8,
    used: u8,
    component: ComponentType,
    min_precision: MinPrecision,
    system_value: SystemValue,
    stream: u8,
    interpolation: Interpolation,
    registerless: bool,
}

/// Rows by semantic, index and stream.
type Rows = BTreeMap<(String, u32, u8), Row>;

fn rows(elements: &[SignatureElement]) -> Rows {
    let mut rows = BTreeMap::new();
    for element in elements {
        for &index in &element.semantic_indices {
            let row = Row {
                components: element.components(),
                used: element.used_mask >> element.first_component(),
                component: element.component,
                min_precision: element.min_precision,
                system_value: element.system_value,
                stream: element.stream,
                interpolation: element.interpolation,
                registerless: element.register.is_none(),
            };
            rows.insert((element.semantic.to_uppercase(), index, element.stream), row);
        }
    }
    rows
}

/// Both compilers must say the same of each row, except for:
///
/// * used components: each compiler optimizes in its own way, dxc counts them for all rows of an element together, and counts
///   none of what an operation of its own reads (`SV_PrimitiveID`, `SV_SampleIndex`);
/// * the interpolation mode, where fxc declares none: of all but the inputs of pixel shaders, and of those that are not used;
/// * registers of values that have an operation of their own in DXIL.
fn compare_rows(kind: &str, dxbc: &Rows, dxil: &Rows, faults: &mut Vec<String>) {
    let names = dxbc.keys().chain(dxil.keys()).collect::<BTreeSet<_>>();
    for name in names {
        let (Some(ours), Some(theirs)) = (dxbc.get(name), dxil.get(name)) else {
            faults.push(format!("{kind}: {name:?}: {:?} and {:?}", dxbc.get(name), dxil.get(name)));
            continue;
        };
        let mut comparable = ours.clone();
        comparable.used = theirs.used;
        if ours.interpolation == Interpolation::Undefined {
            comparable.interpolation = theirs.interpolation;
        }
        if theirs.registerless {
            comparable.registerless = true;
        }
        if comparable != *theirs {
            faults.push(format!("{kind}: {name:?}: {ours:?} and {theirs:?}"));
        }
    }
}

/// Both compilers must say the same of each binding, except for:
///
/// * initial values of constants, and which of them are used;
/// * names of types before Shader Model 5.0, which has none;
/// * arrays before Shader Model 5.1: fxc lists those of their elements that are used;
/// * offsets in buffers with numbers of minimum precision: fxc begins a row where the kind of number changes; and dxc has one
///   such precision, of 16 bits.
fn compare_bindings(dxbc: &Interface, dxil: &Interface, faults: &mut Vec<String>) {
    let (mut ours, mut theirs) = (bindings(dxbc), bindings(dxil));
    join_arrays(&mut ours, &theirs);
    let names = ours.keys().chain(theirs.keys()).cloned().collect::<BTreeSet<_>>();
    for name in names {
        let (mut ours, mut theirs) = (ours.get_mut(&name), theirs.get_mut(&name));
        if let (Some(ours), Some(theirs)) = (&mut ours, &mut theirs)
            && let (Some(layout), Some(other)) = (&mut ours.layout, &mut theirs.layout)
        {
            if dxbc.shader_model.major < 5 || !has_names(layout) {
                visit(layout, &mut |field| field.ty.name = None);
                visit(other, &mut |field| field.ty.name = None);
            }
            if has_minimum_precision(layout) {
                for (layout, kind) in [(layout, &mut ours.kind), (other, &mut theirs.kind)] {
                    layout.size = 0;
                    if let ResourceKind::ConstantBuffer { size } = kind {
                        *size = 0;
                    }
                    visit(layout, &mut |field| {
                        field.offset = 0;
                        let name = field.ty.name.take();
                        field.ty.name = name.map(|name| name.replace("min10", "min16").replace("min12", "min16"));
                    });
                }
            }
        }
        if ours != theirs {
            faults.push(format!("{name}:\n    {ours:?} and\n    {theirs:?}"));
        }
    }
}

/// Puts the array in place of its elements, if they are what it holds.
fn join_arrays(dxbc: &mut BTreeMap<String, Binding>, dxil: &BTreeMap<String, Binding>) {
    for (name, array) in dxil {
        let elements = dxbc.iter().filter_map(|(element, binding)| {
            let index =
                element.strip_prefix(name.as_str())?.strip_prefix('[')?.strip_suffix(']')?.parse::<u32>().ok()?;
            let whole = Binding { register: binding.register - index, count: array.count, ..binding.clone() };
            (index < array.count?).then(|| (element.clone(), whole))
        });
        let elements = elements.collect::<Vec<_>>();
        if !elements.is_empty() && elements.iter().all(|(_, whole)| whole == array) {
            for (element, whole) in elements {
                dxbc.remove(&element);
                dxbc.insert(name.clone(), whole);
            }
        }
    }
}

fn has_names(layout: &mut BufferLayout) -> bool {
    let mut found = false;
    visit(layout, &mut |field| found |= field.ty.name.is_some());
    found
}

fn has_minimum_precision(layout: &mut BufferLayout) -> bool {
    let mut found = false;
    visit(layout, &mut |field| found |= field.ty.name.as_ref().is_some_and(|name| name.starts_with("min1")));
    found
}

/// All fields, also those of structures.
fn visit(layout: &mut BufferLayout, act: &mut impl FnMut(&mut Field)) {
    fn each(fields: &mut [Field], act: &mut impl FnMut(&mut Field)) {
        for field in fields {
            act(field);
            if let FieldShape::Struct(members) = &mut field.ty.shape {
                each(members, act);
            }
        }
    }
    each(&mut layout.fields, act);
}

/// Bindings by name, without what only one of the compilers tells.
fn bindings(interface: &Interface) -> BTreeMap<String, Binding> {
    let mut bindings = BTreeMap::new();
    for binding in &interface.bindings {
        let mut binding = binding.clone();
        let name = binding.name.take().unwrap();
        if let Some(layout) = &mut binding.layout {
            visit(layout, &mut |field| {
                field.default_value = None;
                field.used = None;
            });
        }
        bindings.insert(name, binding);
    }
    bindings
}
