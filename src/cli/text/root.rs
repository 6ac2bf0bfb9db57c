//! Root signatures, what they supply, and subobjects of libraries.

use std::fmt::{self, Write};

use super::register;
use crate::{
    cli::style::{HEADING, paint},
    container::{DescriptorRange, RootDescriptor, RootParameterKind, RootSignature, ShaderVisibility},
    reflection::{Associations, EntryPointInterface, HitGroup, Interface, RootBinding, Subobject, SubobjectKind},
};

/// A root signature, one parameter or static sampler a line.
pub(super) fn write_signature(out: &mut String, signature: &RootSignature, indent: usize) -> fmt::Result {
    if signature.flags.0 != 0 {
        writeln!(out, "{:indent$}flags: {}", "", signature.flags)?;
    }
    for (number, parameter) in signature.parameters.iter().enumerate() {
        let visibility = match parameter.visibility {
            ShaderVisibility::ALL => String::new(),
            visibility => format!(", visible to {visibility}"),
        };
        write!(out, "{:indent$}{number:>3}  ", "")?;
        let mut descriptor = |class: char, it: &RootDescriptor| {
            let flags = if it.flags.0 == 0 { String::new() } else { format!(", {}", it.flags) };
            writeln!(out, "{}{flags}{visibility}", register(class, it.space, it.register, Some(1)))
        };
        match &parameter.kind {
            RootParameterKind::Cbv(it) => descriptor('b', it)?,
            RootParameterKind::Srv(it) => descriptor('t', it)?,
            RootParameterKind::Uav(it) => descriptor('u', it)?,
            RootParameterKind::Constants { register: number, space, count } => {
                writeln!(out, "{}, {count} constants{visibility}", register('b', *space, *number, Some(1)))?;
            }
            RootParameterKind::DescriptorTable(ranges) => {
                writeln!(out, "table{visibility}")?;
                ranges.iter().try_for_each(|range| write_range(out, range, indent + 5))?;
            }
        }
    }
    for (number, sampler) in signature.static_samplers.iter().enumerate() {
        let register = register('s', sampler.space, sampler.register, Some(1));
        write!(out, "{:indent$}static sampler {number}: {register}, {}", "", sampler.filter)?;
        if sampler.visibility != ShaderVisibility::ALL {
            write!(out, ", visible to {}", sampler.visibility)?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn write_range(out: &mut String, range: &DescriptorRange, indent: usize) -> fmt::Result {
    let ty = range.ty.to_string();
    let class = match &ty[..] {
        "CBV" => 'b',
        "SRV" => 't',
        "UAV" => 'u',
        _ => 's',
    };
    let register = register(class, range.space, range.register, range.count);
    write!(out, "{:indent$}{register}", "")?;
    if let Some(offset) = range.offset {
        write!(out, " at descriptor {offset}")?;
    }
    if range.flags.0 != 0 {
        write!(out, ", {}", range.flags)?;
    }
    writeln!(out)
}

/// What supplies the bindings of an entry point.
pub(super) fn write_bindings(out: &mut String, bindings: &[RootBinding]) -> fmt::Result {
    if !bindings.is_empty() {
        writeln!(out, "  root arguments")?;
    }
    for binding in bindings {
        let register = register(super::letter(binding.class), binding.space, binding.register, Some(1));
        write!(out, "    {register:<14} {:<26} ", binding.name.as_deref().unwrap_or("(unnamed)"))?;
        if let Some(source) = binding.source {
            write!(out, "{}{source}", if binding.local { "local " } else { "" })?;
        }
        match binding.fault {
            Some(fault) if binding.source.is_some() => writeln!(out, ", but {fault}")?,
            Some(fault) => writeln!(out, "{fault}")?,
            None => writeln!(out)?,
        }
    }
    Ok(())
}

/// What a library says of one of its exports.
pub(super) fn write_export(out: &mut String, interface: &Interface, entry: &EntryPointInterface) -> fmt::Result {
    let Some(export) = &entry.library else { return Ok(()) };
    if export.mangled_name != entry.name {
        writeln!(out, "  exported as {}", export.mangled_name.escape_debug())?;
    }
    if !export.dependencies.is_empty() {
        let names = export.dependencies.iter().map(|name| name.escape_debug().to_string());
        writeln!(out, "  calls from other libraries: {}", names.collect::<Vec<_>>().join(", "))?;
    }
    if !export.hit_groups.is_empty() {
        writeln!(out, "  in hit groups: {}", export.hit_groups.join(", "))?;
    }
    if let Some(config) = interface.shader_config(entry) {
        let (payload, attributes) = (config.max_payload_size, config.max_attribute_size);
        writeln!(out, "  payload at most {payload} bytes, attributes at most {attributes} bytes")?;
    }
    if let Some(config) = interface.pipeline_config(entry) {
        writeln!(out, "  recursion at most {} deep", config.max_recursion_depth)?;
    }
    write_associations(out, &export.associations, 2)
}

fn write_associations(out: &mut String, associations: &Associations, indent: usize) -> fmt::Result {
    let associated = [
        &associations.state_object_config,
        &associations.global_root_signature,
        &associations.local_root_signature,
        &associations.shader_config,
        &associations.pipeline_config,
    ];
    let names = associated.into_iter().flatten().map(String::as_str).collect::<Vec<_>>();
    if !names.is_empty() {
        writeln!(out, "{:indent$}subobjects: {}", "", names.join(", "))?;
    }
    associations
        .conflicts
        .iter()
        .try_for_each(|names| writeln!(out, "{:indent$}subobjects in conflict: {}", "", names.join(", ")))
}

/// A library's subobjects.
pub(super) fn write_subobjects(out: &mut String, subobjects: &[Subobject]) -> fmt::Result {
    if !subobjects.is_empty() {
        writeln!(out, "\n{}", paint(HEADING, "subobjects"))?;
    }
    for Subobject { name, kind } in subobjects {
        write!(out, "  {name}: ")?;
        match kind {
            SubobjectKind::StateObjectConfig(flags) => writeln!(out, "state object config, {flags}")?,
            SubobjectKind::GlobalRootSignature(signature) => {
                writeln!(out, "global root signature {}", signature.version)?;
                write_signature(out, signature, 4)?;
            }
            SubobjectKind::LocalRootSignature(signature) => {
                writeln!(out, "local root signature {}", signature.version)?;
                write_signature(out, signature, 4)?;
            }
            SubobjectKind::ExportsAssociation { subobject, exports } if exports.is_empty() => {
                writeln!(out, "{subobject} holds by default")?;
            }
            SubobjectKind::ExportsAssociation { subobject, exports } => {
                writeln!(out, "{subobject} holds for {}", exports.join(", "))?;
            }
            SubobjectKind::RaytracingShaderConfig(config) => {
                let (payload, attributes) = (config.max_payload_size, config.max_attribute_size);
                writeln!(out, "payload at most {payload} bytes, attributes at most {attributes} bytes")?;
            }
            SubobjectKind::RaytracingPipelineConfig(config) => {
                write!(out, "recursion at most {} deep", config.max_recursion_depth)?;
                writeln!(out, "{}", if config.flags.0 == 0 { String::new() } else { format!(", {}", config.flags) })?;
            }
            SubobjectKind::HitGroup(group) => write_hit_group(out, group)?,
            SubobjectKind::Unknown(number) => writeln!(out, "subobject of kind {number}")?,
        }
    }
    Ok(())
}

fn write_hit_group(out: &mut String, group: &HitGroup) -> fmt::Result {
    write!(out, "hit group, {}", group.ty)?;
    for (what, shader) in
        [("any hit", &group.any_hit), ("closest hit", &group.closest_hit), ("intersection", &group.intersection)]
    {
        if let Some(shader) = shader {
            write!(out, ", {what} {shader}")?;
        }
    }
    writeln!(out)?;
    write_associations(out, &group.associations, 4)
}
