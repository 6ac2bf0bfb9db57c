//! Interfaces against what the compilers' own reflection says of the same containers.

use std::collections::BTreeMap;

use bevy_dxshader::{
    container::{Container, FeatureFlags, FourCc, RuntimeData},
    reflect,
    reflection::{Binding, Interface, Stage},
};

use crate::{
    describe,
    listing::{self, Listing, Record},
};

/// Compares two lists of records, and tells of those that only one has.
fn compare(label: &str, ours: Vec<Record>, expected: Vec<Record>, faults: &mut Vec<String>) {
    let mut ours = ours.into_iter().map(|record| record.to_string()).collect::<Vec<_>>();
    for record in expected {
        let line = record.to_string();
        match ours.iter().position(|other| *other == line) {
            Some(at) => drop(ours.remove(at)),
            None => faults.push(format!("{label}: the compiler says: {line}")),
        }
    }
    faults.extend(ours.into_iter().map(|line| format!("{label}: we say:            {line}")));
}

#[test]
fn agree_with_the_compilers() {
    let mut faults = Vec::new();
    let mut compared = BTreeMap::<String, u32>::new();
    for listing in listing::all() {
        let interface = match reflect(&listing.bytes) {
            Ok(interface) => interface,
            Err(error) => {
                faults.push(format!("{}: {error}", listing.label));
                continue;
            }
        };
        *compared.entry(format!("{:?} {}", interface.stage, interface.shader_model)).or_default() += 1;
        if interface.stage == Stage::Library {
            library(&listing, &interface, &mut faults);
        } else {
            shader(&listing, &interface, &mut faults);
        }
    }
    println!("{} containers compared: {compared:?}", compared.values().sum::<u32>());
    let shown = std::env::var("SHOWN").map_or(60, |shown| shown.parse().unwrap());
    let shown = faults.iter().take(shown).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(faults.is_empty(), "{} differences:\n{shown}", faults.len());
    assert!(compared.values().sum::<u32>() >= 580 || std::env::var_os("LISTINGS").is_some());
}

fn of(listing: &Listing, kinds: &[&str]) -> Vec<Record> {
    listing.records.iter().filter(|record| kinds.contains(&record.kind.as_str())).cloned().collect()
}

fn shader(listing: &Listing, interface: &Interface, faults: &mut Vec<String>) {
    let label = &listing.label;
    let container = Container::parse(&listing.bytes).unwrap();
    let [entry] = &interface.entry_points[..] else { panic!("{label}: one entry point") };
    let dxil = describe::is_dxil(interface);

    let mut expected = of(listing, &["shader"]);
    expected.iter_mut().for_each(|record| normal_shader(record, interface));
    // Of the newest models there is only the disassembler's word.
    if !expected.is_empty() {
        compare(label, vec![describe::shader(interface)], expected, faults);
    }

    // Without this part D3DReflect knows of no resources.
    if dxil || container.part(FourCc::RDEF).is_some() {
        resources(label, interface, of(listing, &["binding", "buffer"]), faults);
    }

    let mut ours = describe::signature("input", &entry.inputs, entry);
    ours.extend(describe::signature("output", &entry.outputs, entry));
    ours.extend(describe::signature("patch", &entry.patch_constants, entry));
    let mut expected = of(listing, &["input", "output", "patch"]);
    for record in &mut expected {
        normal_parameter(record);
        if dxil {
            normal_parameter_of_dxil(record, interface);
        }
    }
    if dxil {
        // dxc's reflection has most semantics in capitals; the elements below are compared in the letters of the HLSL.
        expected.iter_mut().for_each(|record| record.name.make_ascii_uppercase());
        ours.iter_mut().for_each(|record| record.name.make_ascii_uppercase());
    }
    compare(label, ours, expected, faults);

    if dxil {
        compare(label, describe::elements(entry, &container), of(listing, &["element"]), faults);
        compare(label, describe::state(interface, &container).into_iter().collect(), of(listing, &["state"]), faults);
        compare(label, describe::dependent(&container), of(listing, &["dependent"]), faults);
    }
}

fn resources(label: &str, interface: &Interface, expected: Vec<Record>, faults: &mut Vec<String>) {
    let mut ours = Vec::new();
    for binding in interface.bindings.iter().filter(|binding| !binding.is_of_host() && !binding.is_heap()) {
        ours.push(describe::binding(binding));
        if let Some(layout) = &binding.layout {
            ours.push(describe::buffer(binding, layout));
        }
    }
    let mut expected = expected;
    if expected.iter().any(|record| record.number("partial") == 1) {
        ours.retain(|record| record.kind == "binding");
        for key in ["flags", "samples"] {
            ours.iter_mut().for_each(|record| drop(record.take(key)));
        }
        expected.iter_mut().for_each(|record| drop(record.take("partial")));
    }
    ours.extend(describe::interfaces(&interface.class_linkage));
    // Stripped files have buffers without names, or without fields.
    expected.retain(|record| record.kind != "buffer" || !record.name.is_empty() && !record.fields.is_empty());
    if interface.stage == Stage::Library {
        // dxc's reflection of libraries does not describe what arrays of structured buffers hold.
        let is_array = |name: &str| {
            let named = |binding: &&Binding| binding.name.as_deref() == Some(name);
            interface.bindings.iter().find(named).is_some_and(|binding| binding.count != Some(1))
        };
        let is_described =
            |name: &str| expected.iter().any(|record| record.kind == "buffer" && record.name.contains(name));
        ours.retain(|record| record.kind != "buffer" || !is_array(&record.name) || is_described(&record.name));
    }
    for record in &mut expected {
        match record.kind.as_str() {
            "binding" => normal_binding(record),
            _ if record.number("type") == 2 => normal_interfaces(record),
            _ => normal_buffer(record, &mut ours),
        }
    }
    compare(label, ours, expected, faults);
}

/// fxc's facts of the shader in the numbers of an interface.
fn normal_shader(record: &mut Record, interface: &Interface) {
    if interface.stage == Stage::Geometry && !record.values.contains_key("instances") {
        record.set("instances", 1);
    }
}

/// One kind of binding for all structured buffers with a counter: append, consume, and both.
fn normal_binding(record: &mut Record) {
    if matches!(record.number("type"), 9 | 10) {
        record.set("type", 11);
    }
    // dxc's way to say that an array of constant buffers has no bound.
    if record.number("count") == u32::MAX {
        record.take("count");
    }
}

/// Interfaces are listed as variables that lie in slots.
fn normal_interfaces(record: &mut Record) {
    record.take("size");
    // Those that the program does not call have no slot.
    record.fields.retain(|field| field.number("at") != u32::MAX);
    record.fields.sort_by_key(|field| field.number("at"));
    for field in &mut record.fields {
        for key in ["used", "class", "base", "rows", "columns", "elements", "type"] {
            field.take(key);
        }
    }
}

/// A buffer that holds one structure is that structure's members.
fn normal_buffer(record: &mut Record, ours: &mut [Record]) {
    normal_fields(&mut record.fields);
    record.fields.sort_by_key(|field| field.number("at"));
    // Of an array the first element has a description; that of a template has a name of its own.
    record.name = record.name.trim_start_matches("$$").to_owned();
    if !ours.iter().any(|ours| ours.kind == "buffer" && ours.name == record.name) {
        record.name = record.name.trim_end_matches("[0]").to_owned();
    }
    let whole = if record.number("type") == 3 { "$Element" } else { record.name.as_str() };
    let twin = ours.iter_mut().find(|ours| ours.kind == "buffer" && ours.name == record.name);
    // dxc's reflection gives no type to the elements of rasterizer-ordered buffers.
    if let ([field], Some(twin)) = (&record.fields[..], &twin)
        && field.name == "$Element"
        && !field.values.contains_key("rows")
    {
        record.fields = twin.fields.clone();
        return;
    }
    if let [field] = &mut record.fields[..]
        && field.name == whole
        && field.number("class") == 5
        && field.number("elements") <= 1
    {
        record.fields = std::mem::take(&mut field.fields);
        // D3DReflect gives members no size and no use.
        for field in twin.into_iter().flat_map(|ours| &mut ours.fields) {
            for key in ["size", "used", "default"] {
                field.take(key);
            }
        }
    } else if let Some(twin) = twin {
        // Metadata for early validators does not tell; dxc looks through the code.
        for (field, ours) in record.fields.iter_mut().zip(&twin.fields) {
            if ours.values.get("used").is_some_and(|used| used == "unknown") {
                field.set("used", "unknown");
            }
        }
    }
}

fn normal_fields(fields: &mut [Record]) {
    for field in fields {
        if let Some(offset) = field.take("type_offset") {
            field.set("at", offset);
        }
        // Of a structure, the numbers in it, with those that its textures and samplers count as.
        if field.number("class") == 5 {
            field.take("columns");
        }
        // Minimum precision is in the type's name; the numbers are of 32 bits.
        match field.number("base") {
            52..=54 => field.set("base", 3),
            55 | 56 => field.set("base", 2),
            57 => field.set("base", 19),
            _ => {}
        }
        normal_fields(&mut field.fields);
    }
}

/// Of what D3DReflect says of components that are read or never written, those that the element has.
fn normal_parameter(record: &mut Record) {
    record.set("rw_mask", record.number("rw_mask") & record.number("mask"));
    // The second factor of lines is their density; an interface calls both tessellation factors.
    if record.number("value") == 16 {
        record.set("value", 15);
    }
}

/// dxc's reflection says of all patch constants which components are never written, also where a domain shader reads them;
/// and it gives native 16-bit types as minimum precision.
fn normal_parameter_of_dxil(record: &mut Record, interface: &Interface) {
    if record.kind == "patch" && interface.stage == Stage::Domain {
        record.set("rw_mask", !record.number("rw_mask") & record.number("mask"));
    }
    if interface.feature_flags.contains(FeatureFlags::NATIVE_LOW_PRECISION) {
        // From UINT32, SINT32 and FLOAT32 to those of 16 bits.
        if record.take("min_precision").is_some() {
            record.set("component", record.number("component") + 3);
        }
    }
}

fn library(listing: &Listing, interface: &Interface, faults: &mut Vec<String>) {
    let label = &listing.label;
    let container = Container::parse(&listing.bytes).unwrap();
    let data = container.part(FourCc::RDAT).map(|part| RuntimeData::parse(part).unwrap());
    let mut function: Option<&Record> = None;
    let mut union = Vec::<Record>::new();
    let mut used = BTreeMap::<&str, Vec<Record>>::new();
    for record in &listing.records {
        if record.kind == "function" {
            function = Some(record);
            used.insert(&record.name, Vec::new());
        } else {
            if !union.contains(record) {
                union.push(record.clone());
            }
            // The comments do not tell which function uses a binding.
            if let Some(function) = function {
                used.get_mut(function.name.as_str()).unwrap().push(record.clone());
            }
        }
    }
    let mut everything = interface.clone();
    everything.bindings.retain(|binding| {
        union.iter().any(|record| record.kind == "binding" && Some(record.name.as_str()) == binding.name.as_deref())
    });
    resources(label, &everything, union, faults);
    for record in of(listing, &["function"]) {
        // Functions that are exported and no entry points.
        if record.number("version") >> 16 == Stage::Library as u32 {
            continue;
        }
        let Some(entry) = interface.entry_points.iter().find(|entry| entry.name == record.name) else {
            faults.push(format!("{label}: function {} is missing", record.name));
            continue;
        };
        if entry.stage as u32 != record.number("version") >> 16 {
            faults.push(format!("{label}: function {} is {:?}", record.name, entry.stage));
        }
        let Some(data) = &data else { continue };
        let Some(function) = data.functions.iter().find(|function| function.unmangled_name == record.name) else {
            faults.push(format!("{label}: function {} is not in RDAT", record.name));
            continue;
        };
        let requires = record.values.get("requires").map_or("0", String::as_str);
        if function.features.0.to_string() != requires {
            faults.push(format!(
                "{label}: function {} needs {:?}, the compiler says {requires}",
                record.name, function.features
            ));
        }
        let mut names = function.resources.iter().map(|resource| resource.name.to_string()).collect::<Vec<_>>();
        let used = &used[record.name.as_str()];
        let mut expected = used.iter().filter(|it| it.kind == "binding").map(|it| it.name.clone()).collect::<Vec<_>>();
        names.sort();
        expected.sort();
        if names != expected {
            faults.push(format!("{label}: function {} uses {names:?}, the compiler says {expected:?}", record.name));
        }
    }
}
