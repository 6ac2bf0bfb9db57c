//! `RTS0`, as `RootSignature`.

use super::{Map, Node, general, named};
use crate::{
    Error, Result,
    container::{
        DescriptorRange, DescriptorRangeFlags, DescriptorRangeType, Part, RootDescriptor, RootDescriptorFlags,
        RootParameterKind, RootSignature, RootSignatureFlags, SamplerFlags, StaticSampler,
    },
};

/// Names of descriptors' flags.
const DESCRIPTOR_FLAGS: [(u32, &str); 3] = [
    (RootDescriptorFlags::DATA_VOLATILE.0, "DATA_VOLATILE"),
    (RootDescriptorFlags::DATA_STATIC_WHILE_SET_AT_EXECUTE.0, "DATA_STATIC_WHILE_SET_AT_EXECUTE"),
    (RootDescriptorFlags::DATA_STATIC.0, "DATA_STATIC"),
];
/// Names of ranges' flags.
const RANGE_FLAGS: [(u32, &str); 5] = [
    (DescriptorRangeFlags::DESCRIPTORS_VOLATILE.0, "DESCRIPTORS_VOLATILE"),
    (DescriptorRangeFlags::DATA_VOLATILE.0, "DATA_VOLATILE"),
    (DescriptorRangeFlags::DATA_STATIC_WHILE_SET_AT_EXECUTE.0, "DATA_STATIC_WHILE_SET_AT_EXECUTE"),
    (DescriptorRangeFlags::DATA_STATIC.0, "DATA_STATIC"),
    (
        DescriptorRangeFlags::DESCRIPTORS_STATIC_KEEPING_BUFFER_BOUNDS_CHECKS.0,
        "DESCRIPTORS_STATIC_KEEPING_BUFFER_BOUNDS_CHECKS",
    ),
];
/// Names of samplers' flags.
const SAMPLER_FLAGS: [(u32, &str); 2] = [
    (SamplerFlags::UINT_BORDER_COLOR.0, "SAMPLER_FLAG_UINT_BORDER_COLOR"),
    (SamplerFlags::NON_NORMALIZED_COORDINATES.0, "SAMPLER_FLAG_NON_NORMALIZED_COORDINATES"),
];

/// `RootSignature`.
pub(super) fn root_signature(part: Part<'_>) -> Result<Map<'_>> {
    let signature = RootSignature::parse(part)?;
    let first = part.size_at(8)?;
    let mut map = Map::default();
    map.set("Version", signature.version.0);
    map.set("NumRootParameters", part.u32_at(4)?);
    map.set("RootParametersOffset", first);
    map.set("NumStaticSamplers", part.u32_at(12)?);
    map.set("StaticSamplersOffset", part.u32_at(16)?);

    let mut parameters = Vec::new();
    for (index, parameter) in signature.parameters.iter().enumerate() {
        // The record is within the part, since the parameter was read.
        let record = first + 12 * index;
        let (ty, key, contents) = match &parameter.kind {
            RootParameterKind::DescriptorTable(ranges) => {
                let payload = part.size_at(record + 8)?;
                ("DescriptorTable", "Table", table(&part, payload, ranges)?)
            }
            &RootParameterKind::Constants { register, space, count } => {
                let mut map = Map::default();
                map.set("Num32BitValues", count);
                map.set("RegisterSpace", space);
                map.set("ShaderRegister", register);
                ("Constants32Bit", "Constants", map)
            }
            RootParameterKind::Cbv(cbv) => ("CBV", "Descriptor", descriptor(&part, record, cbv)?),
            RootParameterKind::Srv(srv) => ("SRV", "Descriptor", descriptor(&part, record, srv)?),
            RootParameterKind::Uav(uav) => ("UAV", "Descriptor", descriptor(&part, record, uav)?),
        };
        let mut map = Map::default();
        map.set("ParameterType", ty);
        map.set("ShaderVisibility", named(&part, record + 4, parameter.visibility.name(), "visibility")?);
        map.set(key, contents);
        parameters.push(map);
    }
    map.set("Parameters", parameters);
    if !signature.static_samplers.is_empty() {
        let first = part.size_at(16)?;
        let samplers = signature.static_samplers.iter().map(|sampler| static_sampler(&part, first, sampler));
        map.set("Samplers", samplers.collect::<Result<Vec<_>>>()?);
    }
    // The last has no name there.
    let names = RootSignatureFlags::NAMED.iter().map(|&(flag, name)| (flag.0, name)).filter(|&(flag, _)| flag <= 0x800);
    flags(&mut map, &part, 20, signature.flags.0, &names.collect::<Vec<_>>())?;
    Ok(map)
}

/// Flags that are set, each a key.
fn flags(map: &mut Map<'_>, part: &Part<'_>, offset: usize, flags: u32, names: &[(u32, &'static str)]) -> Result<()> {
    let mut rest = flags;
    for &(flag, name) in names {
        if flags & flag != 0 {
            map.set(name, true);
            rest &= !flag;
        }
    }
    if rest != 0 {
        let what = format!("LLVM has no names for these flags: {rest:#x}");
        return Err(Error::unsupported(what).in_part(part.name).at_offset(offset));
    }
    Ok(())
}

fn descriptor<'a>(part: &Part<'_>, record: usize, descriptor: &RootDescriptor) -> Result<Map<'a>> {
    let mut map = Map::default();
    map.set("RegisterSpace", descriptor.space);
    map.set("ShaderRegister", descriptor.register);
    flags(&mut map, part, record, descriptor.flags.0, &DESCRIPTOR_FLAGS)?;
    Ok(map)
}

fn table<'a>(part: &Part<'_>, payload: usize, ranges: &[DescriptorRange]) -> Result<Map<'a>> {
    let mut maps = Vec::new();
    for range in ranges {
        let mut map = Map::default();
        // LLVM's names are those of its resource classes.
        let ty = if range.ty == DescriptorRangeType::CBV { Some("CBuffer") } else { range.ty.name() };
        map.set("RangeType", named(part, payload, ty, "type of range")?);
        map.set("NumDescriptors", range.count.map_or(Node::from("-1"), Node::from));
        map.set("BaseShaderRegister", range.register);
        map.set("RegisterSpace", range.space);
        map.set("OffsetInDescriptorsFromTableStart", range.offset.unwrap_or(u32::MAX));
        flags(&mut map, part, payload, range.flags.0, &RANGE_FLAGS)?;
        maps.push(map);
    }
    let mut map = Map::default();
    map.set("NumRanges", ranges.len());
    map.set("RangesOffset", part.u32_at(payload.saturating_add(4))?);
    map.set("Ranges", maps);
    Ok(map)
}

fn static_sampler<'a>(part: &Part<'_>, first: usize, sampler: &StaticSampler) -> Result<Map<'a>> {
    let mut map = Map::default();
    let filter = named(part, first, sampler.filter.name(), "filter")?;
    map.set("Filter", Node::Plain(camel_case(filter).into()));
    map.set("AddressU", named(part, first, sampler.address_u.name(), "address mode")?);
    map.set("AddressV", named(part, first, sampler.address_v.name(), "address mode")?);
    map.set("AddressW", named(part, first, sampler.address_w.name(), "address mode")?);
    map.set("MipLODBias", Node::Plain(general(sampler.mip_lod_bias).into()));
    map.set("MaxAnisotropy", sampler.max_anisotropy);
    // LLVM has no name for none, which is for samplers that do not compare.
    let comparison = sampler.comparison.name().filter(|_| sampler.comparison.0 != 0);
    map.set("ComparisonFunc", named(part, first, comparison, "comparison")?);
    map.set("BorderColor", named(part, first, sampler.border_color.name(), "border color")?);
    map.set("MinLOD", Node::Plain(general(sampler.min_lod).into()));
    map.set("MaxLOD", Node::Plain(general(sampler.max_lod).into()));
    map.set("ShaderRegister", sampler.register);
    map.set("RegisterSpace", sampler.space);
    map.set("ShaderVisibility", named(part, first, sampler.visibility.name(), "visibility")?);
    flags(&mut map, part, first, sampler.flags.0, &SAMPLER_FLAGS)?;
    Ok(map)
}

/// `MIN_MAG_MIP_LINEAR` as `MinMagMipLinear`, which is how LLVM spells the names of [`Filter`].
fn camel_case(name: &str) -> String {
    name.split('_').map(|word| word[..1].to_owned() + &word[1..].to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::Filter;

    #[test]
    fn filters_are_spelled_as_llvm_does() {
        let name = Filter::COMPARISON_MIN_MAG_LINEAR_MIP_POINT.name().unwrap();
        assert_eq!(camel_case(name), "ComparisonMinMagLinearMipPoint");
        assert_eq!(camel_case(Filter::ANISOTROPIC.name().unwrap()), "Anisotropic");
    }
}
