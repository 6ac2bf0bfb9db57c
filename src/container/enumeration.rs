//! Numbers and flags of the formats that have names.
//!
//! Files hold whatever number they like, so an enumeration is its number: nothing is lost, and nothing is refused that only
//! a newer compiler knows. Serialized, they are their names; those without one are their number, or `bit` and its number.

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Deserializer, Serializer, de::Error as _};

/// Declares a number with named values: a constant and a name in the header's spelling for each.
macro_rules! enumeration {
    ($(#[$meta:meta])* $type:ident: $repr:ty { $($constant:ident = $value:literal $name:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $type(pub $repr);

        #[allow(missing_docs)]
        impl $type {
            $(pub const $constant: Self = Self($value);)*

            /// The name that the number has in the headers, if it has one.
            pub fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($value => Some($name),)*
                    _ => None,
                }
            }

            /// The number that has a name, or is written out.
            fn from_text(text: &str) -> Option<Self> {
                match text {
                    $($name => Some(Self($value)),)*
                    _ => text.parse().ok().map(Self),
                }
            }
        }

        /// The name, or else the number.
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self.name() {
                    Some(name) => f.write_str(name),
                    None => self.0.fmt(f),
                }
            }
        }

        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{self}")
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::container::enumeration::named(deserializer, stringify!($type), Self::from_text)
            }
        }
    };
}

/// Declares a set of flags: a constant and a name in the header's spelling for each bit.
macro_rules! flags {
    ($(#[$meta:meta])* $type:ident: $repr:ty { $($constant:ident = $value:literal $name:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $type(pub $repr);

        #[allow(missing_docs)]
        impl $type {
            $(pub const $constant: Self = Self($value);)*

            /// The flags that have names, and these, in the header's spelling.
            pub const NAMED: &'static [(Self, &'static str)] = &[$((Self($value), $name),)*];

            /// All of these flags are set.
            pub fn contains(self, flags: Self) -> bool {
                self.0 & flags.0 == flags.0
            }

            /// The names of the flags that are set; a flag without a name by its bit.
            pub fn names(self) -> impl Iterator<Item = String> {
                (0..<$repr>::BITS).map(|bit| 1 << bit).filter(move |flag| self.0 & flag != 0).map(|flag: $repr| match flag {
                    $($value => $name.to_owned(),)*
                    _ => format!("bit {}", flag.trailing_zeros()),
                })
            }

            /// The flag that has a name, or whose bit is named by its number.
            fn from_text(text: &str) -> Option<Self> {
                match text {
                    $($name => Some(Self($value)),)*
                    _ => {
                        let bit = text.strip_prefix("bit ")?.parse().ok()?;
                        (1 as $repr).checked_shl(bit).map(Self)
                    }
                }
            }
        }

        /// The names, with `|` between them.
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let names = self.names().collect::<Vec<_>>();
                f.write_str(&if names.is_empty() { "none".to_owned() } else { names.join(" | ") })
            }
        }

        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{self}")
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_seq(self.names())
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let names = <Vec<std::borrow::Cow<'de, str>> as serde::Deserialize>::deserialize(deserializer)?;
                let flags = names.iter().map(|name| {
                    let unknown = || serde::de::Error::custom(format!("not a flag of {}: {name}", stringify!($type)));
                    Self::from_text(name).ok_or_else(unknown)
                });
                flags.into_iter().try_fold(Self(0), |all, flag| Ok(Self(all.0 | flag?.0)))
            }
        }
    };
}

pub(super) use {enumeration, flags};

/// Reads a named number.
pub(in crate::container) fn named<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    what: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<T, D::Error> {
    let text = Cow::<str>::deserialize(deserializer)?;
    read(&text).ok_or_else(|| D::Error::custom(format!("not a {what}: {text}")))
}

/// Bytes that are serialized as hexadecimal text.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HexBytes<'a>(pub Cow<'a, [u8]>);

impl<'a> From<&'a [u8]> for HexBytes<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self(Cow::Borrowed(bytes))
    }
}

impl HexBytes<'_> {
    /// The bytes of hexadecimal text.
    fn from_text(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        let digit = |digit: u8| char::from(digit).to_digit(16).map(|digit| digit as u8);
        let pairs = digits.chunks_exact(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?));
        if digits.len().is_multiple_of(2) {
            pairs.collect::<Option<_>>().map(|bytes| Self(Cow::Owned(bytes)))
        } else {
            None
        }
    }
}

impl fmt::Display for HexBytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for HexBytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl serde::Serialize for HexBytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for HexBytes<'_> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        named(deserializer, "hexadecimal text", Self::from_text)
    }
}

/// The bytes of a digest as hexadecimal text: for `#[serde(with)]`.
pub(super) mod hex {
    use super::*;

    pub fn serialize<S: Serializer>(bytes: &[u8; 16], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&HexBytes::from(&bytes[..]))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[u8; 16], D::Error> {
        let bytes = HexBytes::deserialize(deserializer)?;
        bytes.0.as_ref().try_into().map_err(|_| D::Error::custom("a digest is 16 bytes"))
    }
}

enumeration! {
    /// `DXIL::ShaderKind`, `D3D10_SB_TOKENIZED_PROGRAM_TYPE`.
    ShaderKind: u32 {
        PIXEL = 0 "Pixel",
        VERTEX = 1 "Vertex",
        GEOMETRY = 2 "Geometry",
        HULL = 3 "Hull",
        DOMAIN = 4 "Domain",
        COMPUTE = 5 "Compute",
        LIBRARY = 6 "Library",
        RAY_GENERATION = 7 "RayGeneration",
        INTERSECTION = 8 "Intersection",
        ANY_HIT = 9 "AnyHit",
        CLOSEST_HIT = 10 "ClosestHit",
        MISS = 11 "Miss",
        CALLABLE = 12 "Callable",
        MESH = 13 "Mesh",
        AMPLIFICATION = 14 "Amplification",
        NODE = 15 "Node",
        INVALID = 16 "Invalid",
    }
}

enumeration! {
    /// `DXIL::ResourceKind`, `PSVResourceKind`.
    DxilResourceKind: u32 {
        INVALID = 0 "Invalid",
        TEXTURE_1D = 1 "Texture1D",
        TEXTURE_2D = 2 "Texture2D",
        TEXTURE_2D_MS = 3 "Texture2DMS",
        TEXTURE_3D = 4 "Texture3D",
        TEXTURE_CUBE = 5 "TextureCube",
        TEXTURE_1D_ARRAY = 6 "Texture1DArray",
        TEXTURE_2D_ARRAY = 7 "Texture2DArray",
        TEXTURE_2D_MS_ARRAY = 8 "Texture2DMSArray",
        TEXTURE_CUBE_ARRAY = 9 "TextureCubeArray",
        TYPED_BUFFER = 10 "TypedBuffer",
        RAW_BUFFER = 11 "RawBuffer",
        STRUCTURED_BUFFER = 12 "StructuredBuffer",
        CBUFFER = 13 "CBuffer",
        SAMPLER = 14 "Sampler",
        TBUFFER = 15 "TBuffer",
        RT_ACCELERATION_STRUCTURE = 16 "RTAccelerationStructure",
        FEEDBACK_TEXTURE_2D = 17 "FeedbackTexture2D",
        FEEDBACK_TEXTURE_2D_ARRAY = 18 "FeedbackTexture2DArray",
    }
}

enumeration! {
    /// `DXIL::SemanticKind`, `PSVSemanticKind`.
    SemanticKind: u8 {
        ARBITRARY = 0 "Arbitrary",
        VERTEX_ID = 1 "VertexID",
        INSTANCE_ID = 2 "InstanceID",
        POSITION = 3 "Position",
        RENDER_TARGET_ARRAY_INDEX = 4 "RenderTargetArrayIndex",
        VIEW_PORT_ARRAY_INDEX = 5 "ViewPortArrayIndex",
        CLIP_DISTANCE = 6 "ClipDistance",
        CULL_DISTANCE = 7 "CullDistance",
        OUTPUT_CONTROL_POINT_ID = 8 "OutputControlPointID",
        DOMAIN_LOCATION = 9 "DomainLocation",
        PRIMITIVE_ID = 10 "PrimitiveID",
        GS_INSTANCE_ID = 11 "GSInstanceID",
        SAMPLE_INDEX = 12 "SampleIndex",
        IS_FRONT_FACE = 13 "IsFrontFace",
        COVERAGE = 14 "Coverage",
        INNER_COVERAGE = 15 "InnerCoverage",
        TARGET = 16 "Target",
        DEPTH = 17 "Depth",
        DEPTH_LESS_EQUAL = 18 "DepthLessEqual",
        DEPTH_GREATER_EQUAL = 19 "DepthGreaterEqual",
        STENCIL_REF = 20 "StencilRef",
        DISPATCH_THREAD_ID = 21 "DispatchThreadID",
        GROUP_ID = 22 "GroupID",
        GROUP_INDEX = 23 "GroupIndex",
        GROUP_THREAD_ID = 24 "GroupThreadID",
        TESS_FACTOR = 25 "TessFactor",
        INSIDE_TESS_FACTOR = 26 "InsideTessFactor",
        VIEW_ID = 27 "ViewID",
        BARYCENTRICS = 28 "Barycentrics",
        SHADING_RATE = 29 "ShadingRate",
        CULL_PRIMITIVE = 30 "CullPrimitive",
        START_VERTEX_LOCATION = 31 "StartVertexLocation",
        START_INSTANCE_LOCATION = 32 "StartInstanceLocation",
    }
}

enumeration! {
    /// `DXIL::InterpolationMode`, `D3D10_SB_INTERPOLATION_MODE`.
    InterpolationMode: u8 {
        UNDEFINED = 0 "Undefined",
        CONSTANT = 1 "Constant",
        LINEAR = 2 "Linear",
        LINEAR_CENTROID = 3 "LinearCentroid",
        LINEAR_NOPERSPECTIVE = 4 "LinearNoperspective",
        LINEAR_NOPERSPECTIVE_CENTROID = 5 "LinearNoperspectiveCentroid",
        LINEAR_SAMPLE = 6 "LinearSample",
        LINEAR_NOPERSPECTIVE_SAMPLE = 7 "LinearNoperspectiveSample",
    }
}

enumeration! {
    /// `D3D_REGISTER_COMPONENT_TYPE`, `DxilProgramSigCompType`: component types of signature parts and of `PSV0`.
    SignatureComponentType: u32 {
        UNKNOWN = 0 "Unknown",
        UINT32 = 1 "UInt32",
        SINT32 = 2 "SInt32",
        FLOAT32 = 3 "Float32",
        UINT16 = 4 "UInt16",
        SINT16 = 5 "SInt16",
        FLOAT16 = 6 "Float16",
        UINT64 = 7 "UInt64",
        SINT64 = 8 "SInt64",
        FLOAT64 = 9 "Float64",
    }
}

enumeration! {
    /// `D3D_NAME` and what `DxilProgramSigSemantic` adds: system values of signature parts, in LLVM's spelling.
    SignatureSystemValue: u32 {
        UNDEFINED = 0 "Undefined",
        POSITION = 1 "Position",
        CLIP_DISTANCE = 2 "ClipDistance",
        CULL_DISTANCE = 3 "CullDistance",
        RENDER_TARGET_ARRAY_INDEX = 4 "RenderTargetArrayIndex",
        VIEW_PORT_ARRAY_INDEX = 5 "ViewPortArrayIndex",
        VERTEX_ID = 6 "VertexID",
        PRIMITIVE_ID = 7 "PrimitiveID",
        INSTANCE_ID = 8 "InstanceID",
        IS_FRONT_FACE = 9 "IsFrontFace",
        SAMPLE_INDEX = 10 "SampleIndex",
        FINAL_QUAD_EDGE_TESSFACTOR = 11 "FinalQuadEdgeTessfactor",
        FINAL_QUAD_INSIDE_TESSFACTOR = 12 "FinalQuadInsideTessfactor",
        FINAL_TRI_EDGE_TESSFACTOR = 13 "FinalTriEdgeTessfactor",
        FINAL_TRI_INSIDE_TESSFACTOR = 14 "FinalTriInsideTessfactor",
        FINAL_LINE_DETAIL_TESSFACTOR = 15 "FinalLineDetailTessfactor",
        FINAL_LINE_DENSITY_TESSFACTOR = 16 "FinalLineDensityTessfactor",
        BARYCENTRICS = 23 "Barycentrics",
        SHADING_RATE = 24 "ShadingRate",
        CULL_PRIMITIVE = 25 "CullPrimitive",
        TARGET = 64 "Target",
        DEPTH = 65 "Depth",
        COVERAGE = 66 "Coverage",
        DEPTH_GREATER_EQUAL = 67 "DepthGE",
        DEPTH_LESS_EQUAL = 68 "DepthLE",
        STENCIL_REF = 69 "StencilRef",
        INNER_COVERAGE = 70 "InnerCoverage",
    }
}

enumeration! {
    /// `D3D_MIN_PRECISION`, `DxilProgramSigMinPrecision`: minimum precision of signature parts.
    SignatureMinPrecision: u32 {
        DEFAULT = 0 "Default",
        FLOAT16 = 1 "Float16",
        FLOAT2_8 = 2 "Float2_8",
        RESERVED = 3 "Reserved",
        SINT16 = 4 "SInt16",
        UINT16 = 5 "UInt16",
        ANY16 = 0xf0 "Any16",
        ANY10 = 0xf1 "Any10",
    }
}

enumeration! {
    /// `DXIL::ComponentType`.
    DxilComponentType: u16 {
        INVALID = 0 "Invalid",
        I1 = 1 "I1",
        I16 = 2 "I16",
        U16 = 3 "U16",
        I32 = 4 "I32",
        U32 = 5 "U32",
        I64 = 6 "I64",
        U64 = 7 "U64",
        F16 = 8 "F16",
        F32 = 9 "F32",
        F64 = 10 "F64",
        SNORM_F16 = 11 "SNormF16",
        UNORM_F16 = 12 "UNormF16",
        SNORM_F32 = 13 "SNormF32",
        UNORM_F32 = 14 "UNormF32",
        SNORM_F64 = 15 "SNormF64",
        UNORM_F64 = 16 "UNormF64",
        PACKED_S8X32 = 17 "PackedS8x32",
        PACKED_U8X32 = 18 "PackedU8x32",
        I8 = 19 "I8",
        U8 = 20 "U8",
        F8_E4M3FN = 21 "F8_E4M3FN",
        F8_E5M2 = 22 "F8_E5M2",
        BFLOAT16 = 23 "BFloat16",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    flags! {
        /// Two flags.
        Two: u32 {
            FIRST = 1 "First",
            THIRD = 4 "Third",
        }
    }

    #[test]
    fn names_and_numbers() {
        assert_eq!(ShaderKind::MESH.to_string(), "Mesh");
        assert_eq!(ShaderKind(99).to_string(), "99");
        assert_eq!(Two(7).to_string(), "First | bit 1 | Third");
        assert_eq!(Two(0).to_string(), "none");
        assert_eq!(Two::NAMED, [(Two::FIRST, "First"), (Two::THIRD, "Third")]);
        assert!(Two(5).contains(Two::FIRST) && Two(5).contains(Two::THIRD) && !Two(5).contains(Two(2)));
        assert_eq!(HexBytes::from(&[0, 0xab][..]).to_string(), "00ab");
    }

    #[test]
    fn what_is_serialized_is_read_again() {
        fn again<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
            serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
        }
        for number in [0, 13, 99, u32::MAX] {
            assert_eq!(again(&ShaderKind(number)), ShaderKind(number));
        }
        for bits in [0, 5, 7, u32::MAX] {
            assert_eq!(again(&Two(bits)), Two(bits));
        }
        assert_eq!(again(&HexBytes::from(&[0, 0xab][..])).0, &[0, 0xab][..]);
        assert!(serde_json::from_str::<ShaderKind>("\"Texel\"").is_err());
        assert!(serde_json::from_str::<Two>("[\"bit 32\"]").is_err());
        for text in ["\"0\"", "\"0g\"", "\"+1\""] {
            assert!(serde_json::from_str::<HexBytes<'_>>(text).is_err(), "{text}");
        }
    }
}
