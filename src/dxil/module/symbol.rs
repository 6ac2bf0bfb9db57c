//! How global variables and functions present themselves to a linker.

/// What a global variable or a function is to a linker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbol {
    /// Who may refer to it.
    pub linkage: Linkage,
    /// Whether other images see it.
    pub visibility: Visibility,
    /// Whether it crosses the border of a DLL.
    pub storage: DllStorage,
    /// Its address says nothing.
    pub unnamed_address: bool,
    /// Alignment in bytes; 0 if none is given.
    pub alignment: u32,
    /// Section that it is placed in.
    pub section: Option<String>,
    /// What else it has, by name, that is not kept: no DXIL has any of it.
    pub foreign: Option<&'static str>,
}

/// Linkage of a symbol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Linkage {
    #[default]
    External,
    WeakAny,
    Appending,
    Internal,
    LinkOnceAny,
    ExternalWeak,
    Common,
    Private,
    WeakOdr,
    LinkOnceOdr,
    AvailableExternally,
}

impl Linkage {
    /// From the record's number; numbers without a meaning are external.
    pub(in crate::dxil) fn decode(code: u64) -> Self {
        match code {
            1 | 16 => Self::WeakAny,
            2 => Self::Appending,
            3 => Self::Internal,
            4 | 18 => Self::LinkOnceAny,
            7 => Self::ExternalWeak,
            8 => Self::Common,
            9 | 13 | 14 => Self::Private,
            10 | 17 => Self::WeakOdr,
            11 | 19 => Self::LinkOnceOdr,
            12 => Self::AvailableExternally,
            _ => Self::External,
        }
    }

    /// Nothing outside of the module can refer to it.
    pub fn is_local(self) -> bool {
        matches!(self, Self::Internal | Self::Private)
    }
}

/// Visibility of a symbol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Visibility {
    #[default]
    Default,
    Hidden,
    Protected,
}

impl Visibility {
    /// From the record's number.
    pub(in crate::dxil) fn decode(code: u64) -> Self {
        match code {
            1 => Self::Hidden,
            2 => Self::Protected,
            _ => Self::Default,
        }
    }
}

/// DLL storage class of a symbol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum DllStorage {
    #[default]
    Default,
    Import,
    Export,
}

impl DllStorage {
    /// From the record's number.
    pub(in crate::dxil) fn decode(code: u64) -> Self {
        match code {
            1 => Self::Import,
            2 => Self::Export,
            _ => Self::Default,
        }
    }
}
