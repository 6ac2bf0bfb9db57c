//! What `dx.op.annotateHandle` says of a resource, as dxc's comments spell it.

use crate::dxil::reflect::HeapProperties as Properties;

/// Names of `DXIL::ResourceKind`, from 0 on.
const KINDS: [&str; 19] = [
    "<invalid ResourceKind>",
    "Texture1D",
    "Texture2D",
    "Texture2DMS",
    "Texture3D",
    "TextureCube",
    "Texture1DArray",
    "Texture2DArray",
    "Texture2DMSArray",
    "TextureCubeArray",
    "TypedBuffer",
    "ByteAddressBuffer",
    "StructuredBuffer",
    "CBuffer",
    "Sampler",
    "TBuffer",
    "RTAccelerationStructure",
    "FeedbackTexture2D",
    "FeedbackTexture2DArray",
];

/// Names of `DXIL::ComponentType`, from 0 on.
const COMPONENTS: [&str; 17] = [
    "<invalid CompType>",
    "I1",
    "I16",
    "U16",
    "I32",
    "U32",
    "I64",
    "U64",
    "F16",
    "F32",
    "F64",
    "SNormF16",
    "UNormF16",
    "SNormF32",
    "UNormF32",
    "SNormF64",
    "UNormF64",
];

/// A resource: `RWTexture2D<4xF32>`.
pub(super) fn spelled(Properties(first, second): Properties) -> String {
    let bit = |number: u32| first >> number & 1 != 0;
    let shape = first & 0xff;
    let kind = KINDS.get(shape as usize).copied();
    let uav = bit(12);
    let on_uav = |set: bool, text: &'static str| if uav && set { text } else { "" };
    let access = match (uav, bit(13)) {
        (false, _) => "",
        (true, false) => "RW",
        (true, true) => "ROV",
    };
    let coherent = on_uav(bit(14), "globallycoherent ");
    let reordered = on_uav(bit(16), "reordercoherent ");
    match (shape, kind) {
        (13, _) => "CBuffer".to_owned(),
        (14, _) if bit(15) => "SamplerComparisonState".to_owned(),
        (14, _) => "SamplerState".to_owned(),
        (15, _) if !uav => "TBuffer".to_owned(),
        (1..=10, Some(kind)) => {
            let component = COMPONENTS.get((second & 0xff) as usize).unwrap_or(&COMPONENTS[0]);
            let count = match second >> 8 & 0xff {
                0 | 1 => String::new(),
                count => format!("{count}x"),
            };
            format!("{coherent}{reordered}{access}{kind}<{count}{component}>")
        }
        (11, Some(kind)) => format!("{coherent}{reordered}{access}{kind}"),
        (12, Some(kind)) => {
            format!("{coherent}{reordered}{access}{kind}<stride={second}{}>", on_uav(bit(15), ", counter"))
        }
        (16, Some(kind)) => kind.to_owned(),
        (17 | 18, Some(kind)) => {
            let feedback = match second & 0xff {
                0 => "MinMip",
                1 => "MipRegionUsed",
                _ => "<invalid sampler feedback type>",
            };
            format!("{kind}<{feedback}>")
        }
        _ => "<invalid resource properties>".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_spelled_as_dxc_does() {
        assert_eq!(spelled(Properties(2, 1033)), "Texture2D<4xF32>");
        assert_eq!(spelled(Properties(2 | 1 << 12 | 1 << 14, 261)), "globallycoherent RWTexture2D<U32>");
        assert_eq!(spelled(Properties(12 | 1 << 12 | 1 << 15, 40)), "RWStructuredBuffer<stride=40, counter>");
        assert_eq!(spelled(Properties(14 | 1 << 15, 0)), "SamplerComparisonState");
        assert_eq!(spelled(Properties(11 | 1 << 12 | 1 << 13, 0)), "ROVByteAddressBuffer");
        assert_eq!(spelled(Properties(99, 0)), "<invalid resource properties>");
    }
}
