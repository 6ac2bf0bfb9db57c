//! Types in fxc's PDB files: the records that describe constants.

/// A type, as far as constants need it. Types name others by their index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DebugType {
    /// Another type with qualifiers (`LF_MODIFIER_EX`), or as contents of a constant buffer (`LF_HLSL`).
    Alias(u32),
    /// A number of minimum precision: its kind in `CV_builtin_e`.
    MinPrecision(u16),
    /// `LF_VECTOR`.
    Vector {
        /// Type of a number.
        element: u32,
        /// How many there are.
        count: u32,
        /// Bytes.
        size: u32,
        /// `float4`.
        name: String,
    },
    /// `LF_MATRIX`.
    Matrix {
        /// Type of a number.
        element: u32,
        /// Rows of the mathematical matrix.
        rows: u32,
        /// Columns of the mathematical matrix.
        columns: u32,
        /// Rows are contiguous in memory.
        row_major: bool,
        /// Bytes.
        size: u32,
        /// `float4x4`.
        name: String,
    },
    /// `LF_STRIDED_ARRAY`.
    Array {
        /// Type of an element, which may be an array too.
        element: u32,
        /// Bytes from the first element to the end of the last; 0 in files of Shader Model 5.1, which do not tell.
        size: u32,
    },
    /// `LF_STRUCTURE`.
    Struct {
        /// The list of its members.
        members: u32,
        /// Bytes.
        size: u32,
        /// Its name.
        name: String,
    },
    /// `LF_FIELDLIST`.
    Members(Vec<DebugMember>),
    /// Any other, by its leaf.
    Other(u16),
}

/// A member of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DebugMember {
    /// Its type.
    pub ty: u32,
    /// Bytes from the structure's beginning.
    pub offset: u32,
    /// Its name.
    pub name: String,
}

/// The type records of a PDB file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DebugTypes {
    /// Index of the first; those below are built in.
    first: u32,
    types: Vec<DebugType>,
}

/// The stream with the types.
pub(super) const STREAM: usize = 2;
/// `CV_BI_HLSL_CONSTANT_BUFFER`.
const CONSTANT_BUFFER: u16 = 0x224;
/// `CV_BI_HLSL_MIN8FLOAT` to `CV_BI_HLSL_MIN16UINT`.
const MIN_PRECISION: std::ops::RangeInclusive<u16> = 0x21e..=0x223;

impl DebugTypes {
    /// Reads the stream of types (LLVM's "The PDB TPI Stream"): a header with its version, its length, the indices of the first
    /// type and after the last, and the length of the records; then records that begin with their length, 16 bits.
    ///
    /// It ends where a record is cut short: dxc leaves the stream empty.
    pub(super) fn parse(stream: &[u8]) -> Self {
        let mut header = Cursor(stream);
        let Some([_, len, first, _, records_len]) = header.words() else { return Self::default() };
        let records = stream.get(len as usize..).unwrap_or_default();
        let mut rest = Cursor(&records[..records.len().min(records_len as usize)]);
        let mut types = Vec::new();
        while let Some(len) = rest.u16()
            && let Some(record) = rest.take(len.into())
        {
            let leaf = Cursor(record).u16().unwrap_or_default();
            types.push(read(record).unwrap_or(DebugType::Other(leaf)));
        }
        Self { first, types }
    }

    /// The type of an index, with its qualifiers removed and the index that it then has: `None` for what is built in, and for
    /// records that name later ones, which the format forbids.
    pub fn get(&self, mut index: u32) -> (u32, Option<&DebugType>) {
        loop {
            let found = index.checked_sub(self.first).and_then(|place| self.types.get(place as usize));
            match found {
                Some(&DebugType::Alias(next)) if next < index => index = next,
                found => return (index, found),
            }
        }
    }
}

/// One record, as Microsoft's `cvinfo.h` has it; `None` if it is cut short.
fn read(record: &[u8]) -> Option<DebugType> {
    let mut rest = Cursor(record);
    let leaf = rest.u16()?;
    Some(match leaf {
        0x1203 => DebugType::Members(members(rest)?),
        0x1505 => {
            rest.take(4)?;
            let [members, _, _] = rest.words()?;
            DebugType::Struct { members, size: rest.number()?, name: rest.text()? }
        }
        0x1516 => {
            let [element, _, _] = rest.words()?;
            DebugType::Array { element, size: rest.number()? }
        }
        0x1517 => {
            let [subtype] = rest.words()?;
            match rest.u16()? {
                CONSTANT_BUFFER => DebugType::Alias(subtype),
                kind if MIN_PRECISION.contains(&kind) => DebugType::MinPrecision(kind),
                _ => DebugType::Other(leaf),
            }
        }
        0x1518 => DebugType::Alias(rest.words::<1>()?[0]),
        0x151b => {
            let [element, count] = rest.words()?;
            DebugType::Vector { element, count, size: rest.number()?, name: rest.text()? }
        }
        0x151c => {
            let [element, rows, columns, _] = rest.words()?;
            let row_major = rest.take(1)?[0] & 1 != 0;
            DebugType::Matrix { element, rows, columns, row_major, size: rest.number()?, name: rest.text()? }
        }
        _ => DebugType::Other(leaf),
    })
}

/// `LF_MEMBER` records, with padding (`LF_PAD`) between them.
fn members(mut rest: Cursor<'_>) -> Option<Vec<DebugMember>> {
    let mut members = Vec::new();
    loop {
        while let Some(&pad) = rest.0.first()
            && pad >= 0xf0
        {
            rest.take(1)?;
        }
        if rest.0.is_empty() {
            return Some(members);
        }
        // Methods and base classes have other records, whose lengths depend on their kinds.
        if rest.u16()? != 0x150d {
            return None;
        }
        rest.take(2)?;
        let [ty] = rest.words()?;
        members.push(DebugMember { ty, offset: rest.number()?, name: rest.text()? });
    }
}

/// The rest of a record.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a>(pub &'a [u8]);

impl<'a> Cursor<'a> {
    pub fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    pub fn u16(&mut self) -> Option<u16> {
        self.take(2)?.first_chunk().map(|&bytes| u16::from_le_bytes(bytes))
    }

    pub fn words<const N: usize>(&mut self) -> Option<[u32; N]> {
        let bytes = self.take(4 * N)?;
        let mut words = bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        Some(std::array::from_fn(|_| words.next().unwrap_or_default()))
    }

    /// A numeric leaf: the number itself below `LF_NUMERIC`, else what follows (`LF_USHORT`, `LF_LONG`, `LF_ULONG`).
    fn number(&mut self) -> Option<u32> {
        match self.u16()? {
            number @ 0..0x8000 => Some(number.into()),
            0x8002 => self.u16().map(u32::from),
            0x8003 | 0x8004 => self.words::<1>().map(|[number]| number),
            _ => None,
        }
    }

    /// A text that ends with a zero.
    pub fn text(&mut self) -> Option<String> {
        let len = self.0.iter().position(|&byte| byte == 0)?;
        let text = String::from_utf8_lossy(self.take(len)?).into_owned();
        self.take(1)?;
        Some(text)
    }
}
