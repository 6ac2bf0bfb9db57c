//! Formats of texels: how elements of typed buffers are laid out, and which format a storage texture is declared with.

use naga::{ScalarKind, StorageFormat};

use crate::reflection::ComponentType;

/// What the bits of a channel mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numeric {
    Unorm,
    Snorm,
    Uint,
    Sint,
    Float,
}

impl Numeric {
    /// Kind of the channel's value in a shader.
    pub fn kind(self) -> ScalarKind {
        match self {
            Self::Uint => ScalarKind::Uint,
            Self::Sint => ScalarKind::Sint,
            Self::Unorm | Self::Snorm | Self::Float => ScalarKind::Float,
        }
    }

    /// Meaning of a declared component.
    pub fn of(component: ComponentType) -> Self {
        match component {
            ComponentType::Bool
            | ComponentType::U16
            | ComponentType::U32
            | ComponentType::U64
            | ComponentType::Packed8x32 => Self::Uint,
            ComponentType::I16 | ComponentType::I32 | ComponentType::I64 => Self::Sint,
            ComponentType::UnormF16 | ComponentType::UnormF32 | ComponentType::UnormF64 => Self::Unorm,
            ComponentType::SnormF16 | ComponentType::SnormF32 | ComponentType::SnormF64 => Self::Snorm,
            ComponentType::F16 | ComponentType::F32 | ComponentType::F64 | ComponentType::Unknown => Self::Float,
        }
    }
}

/// Layout of a texel in memory: channels from the lowest bit up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Texel {
    /// Width of each channel; 0 for those that are missing.
    pub bits: [u8; 4],
    /// What they mean.
    pub numeric: Numeric,
    /// The first and the third channel are exchanged.
    pub bgra: bool,
}

impl Texel {
    /// Channels of one width.
    pub fn uniform(channels: u8, bits: u8, numeric: Numeric) -> Self {
        let mut widths = [0; 4];
        widths[..usize::from(channels.clamp(1, 4))].fill(bits);
        Self { bits: widths, numeric, bgra: false }
    }

    /// What a declaration says of a typed buffer whose view is not known: 32-bit channels, but 8-bit ones where they are
    /// normalized, which no 32-bit format is.
    pub fn declared(component: ComponentType, components: u8) -> Self {
        let numeric = Numeric::of(component);
        let bits = if matches!(numeric, Numeric::Unorm | Numeric::Snorm) { 8 } else { 32 };
        Self::uniform(components, bits, numeric)
    }

    /// Layout of a storage format.
    pub fn of(format: StorageFormat) -> Self {
        use Numeric::{Float, Sint, Snorm, Uint, Unorm};
        use StorageFormat as F;
        let packed = |bits, numeric| Self { bits, numeric, bgra: false };
        match format {
            F::R8Unorm => Self::uniform(1, 8, Unorm),
            F::R8Snorm => Self::uniform(1, 8, Snorm),
            F::R8Uint => Self::uniform(1, 8, Uint),
            F::R8Sint => Self::uniform(1, 8, Sint),
            F::R16Uint => Self::uniform(1, 16, Uint),
            F::R16Sint => Self::uniform(1, 16, Sint),
            F::R16Float => Self::uniform(1, 16, Float),
            F::R16Unorm => Self::uniform(1, 16, Unorm),
            F::R16Snorm => Self::uniform(1, 16, Snorm),
            F::Rg8Unorm => Self::uniform(2, 8, Unorm),
            F::Rg8Snorm => Self::uniform(2, 8, Snorm),
            F::Rg8Uint => Self::uniform(2, 8, Uint),
            F::Rg8Sint => Self::uniform(2, 8, Sint),
            F::R32Uint => Self::uniform(1, 32, Uint),
            F::R32Sint => Self::uniform(1, 32, Sint),
            F::R32Float => Self::uniform(1, 32, Float),
            F::Rg16Uint => Self::uniform(2, 16, Uint),
            F::Rg16Sint => Self::uniform(2, 16, Sint),
            F::Rg16Float => Self::uniform(2, 16, Float),
            F::Rg16Unorm => Self::uniform(2, 16, Unorm),
            F::Rg16Snorm => Self::uniform(2, 16, Snorm),
            F::Rgba8Unorm => Self::uniform(4, 8, Unorm),
            F::Rgba8Snorm => Self::uniform(4, 8, Snorm),
            F::Rgba8Uint => Self::uniform(4, 8, Uint),
            F::Rgba8Sint => Self::uniform(4, 8, Sint),
            F::Bgra8Unorm => Self { bgra: true, ..Self::uniform(4, 8, Unorm) },
            F::Rgb10a2Uint => packed([10, 10, 10, 2], Uint),
            F::Rgb10a2Unorm => packed([10, 10, 10, 2], Unorm),
            F::Rg11b10Ufloat => packed([11, 11, 10, 0], Float),
            F::R64Uint | F::Rg32Uint => Self::uniform(2, 32, Uint),
            F::Rg32Sint => Self::uniform(2, 32, Sint),
            F::Rg32Float => Self::uniform(2, 32, Float),
            F::Rgba16Uint => Self::uniform(4, 16, Uint),
            F::Rgba16Sint => Self::uniform(4, 16, Sint),
            F::Rgba16Float => Self::uniform(4, 16, Float),
            F::Rgba16Unorm => Self::uniform(4, 16, Unorm),
            F::Rgba16Snorm => Self::uniform(4, 16, Snorm),
            F::Rgba32Uint => Self::uniform(4, 32, Uint),
            F::Rgba32Sint => Self::uniform(4, 32, Sint),
            F::Rgba32Float => Self::uniform(4, 32, Float),
        }
    }

    /// Bytes from one element to the next.
    pub fn bytes(self) -> u32 {
        self.bits.iter().map(|&bits| u32::from(bits)).sum::<u32>().div_ceil(8)
    }

    /// Lowest bit of a channel within the element.
    pub fn first_bit(self, channel: usize) -> u32 {
        self.bits[..channel].iter().map(|&bits| u32::from(bits)).sum()
    }

    /// The channel that holds a component, if one does.
    pub fn channel(self, component: usize) -> Option<usize> {
        let channel = if self.bgra && component != 3 { 2 - component } else { component };
        (self.bits[channel] != 0).then_some(channel)
    }
}

/// Format of a storage texture whose view is not known: as the declaration says, one channel for atomics.
pub(super) fn declared_format(component: ComponentType, components: u8, atomic: bool) -> StorageFormat {
    use StorageFormat as F;
    let numeric = Numeric::of(component);
    let channels = if atomic { 1 } else { components };
    match (numeric, channels) {
        (Numeric::Float, 0 | 1) => F::R32Float,
        (Numeric::Float, 2) => F::Rg32Float,
        (Numeric::Float, _) => F::Rgba32Float,
        (Numeric::Uint, 0 | 1) => F::R32Uint,
        (Numeric::Uint, 2) => F::Rg32Uint,
        (Numeric::Uint, _) => F::Rgba32Uint,
        (Numeric::Sint, 0 | 1) => F::R32Sint,
        (Numeric::Sint, 2) => F::Rg32Sint,
        (Numeric::Sint, _) => F::Rgba32Sint,
        (Numeric::Unorm, 0 | 1) => F::R8Unorm,
        (Numeric::Unorm, 2) => F::Rg8Unorm,
        (Numeric::Unorm, _) => F::Rgba8Unorm,
        (Numeric::Snorm, 0 | 1) => F::R8Snorm,
        (Numeric::Snorm, 2) => F::Rg8Snorm,
        (Numeric::Snorm, _) => F::Rgba8Snorm,
    }
}
