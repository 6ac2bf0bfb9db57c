//! Signature parts: `ISGN`, `OSGN`, `PCSG`, `OSG5`, `ISG1`, `OSG1`, `PSG1`.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{FourCc, Part, SignatureComponentType, SignatureMinPrecision, SignatureSystemValue};
use crate::{Error, Result};

/// A signature part: a table of records, one for each register (row) of each element.
///
/// The header is the number of records and the offset of the first. A record is six 32-bit words: name's offset, semantic
/// index, `D3D_NAME`, `D3D_REGISTER_COMPONENT_TYPE`, register, and a word of two mask bytes. `OSG5` puts the stream before
/// them; the parts whose names end in 1 put the stream before and the minimum precision after them.
#[derive(Clone, Copy, Debug)]
pub struct Signature<'a> {
    part: Part<'a>,
    first: usize,
    count: usize,
    form: Form,
}

/// Which words a record has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Plain,
    Stream,
    StreamAndPrecision,
}

impl Form {
    fn of(name: FourCc) -> Option<Self> {
        match name {
            FourCc::ISGN | FourCc::OSGN | FourCc::PCSG => Some(Self::Plain),
            FourCc::OSG5 => Some(Self::Stream),
            FourCc::ISG1 | FourCc::OSG1 | FourCc::PSG1 => Some(Self::StreamAndPrecision),
            _ => None,
        }
    }

    fn record_len(self) -> usize {
        match self {
            Self::Plain => 24,
            Self::Stream => 28,
            Self::StreamAndPrecision => 32,
        }
    }
}

/// One record of a signature part, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignatureRecord<'a> {
    /// Semantic name without its index.
    pub semantic: Cow<'a, str>,
    /// Semantic index.
    pub semantic_index: u32,
    /// Meaning to the pipeline. fxc leaves a pixel shader's outputs undefined.
    pub system_value: SignatureSystemValue,
    /// Type of a component.
    pub component_type: SignatureComponentType,
    /// Register, or `u32::MAX` for none.
    pub register: u32,
    /// Components of the register that the element has; bit 0 is x.
    pub mask: u8,
    /// Inputs: components that are always read. Outputs: components that are never written. Early versions of dxc left
    /// noise in the high nibble, which is cleared here.
    pub exclusive_mask: u8,
    /// Stream of a geometry shader's output.
    pub stream: u32,
    /// Precision that suffices.
    pub min_precision: SignatureMinPrecision,
}

impl<'a> Signature<'a> {
    /// Reads the header of a signature part.
    ///
    /// # Errors
    /// The part is no signature, or its table passes its end.
    pub fn parse(part: Part<'a>) -> Result<Self> {
        let form = Form::of(part.name).ok_or_else(|| Error::malformed("not a signature part").in_part(part.name))?;
        // Tools that keep no signature leave the part empty.
        if part.data.is_empty() {
            return Ok(Self { part, first: 0, count: 0, form });
        }
        let (count, first) = (part.size_at(0)?, part.size_at(4)?);
        part.check_records(first, count, form.record_len())?;
        Ok(Self { part, first, count, form })
    }

    /// The part.
    pub fn part(&self) -> Part<'a> {
        self.part
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.count
    }

    /// It has no records.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The records, in file order. Each is an error if its name is not within the part.
    pub fn records(&self) -> impl ExactSizeIterator<Item = Result<SignatureRecord<'a>>> + use<'a> {
        let this = *self;
        self.offsets().map(move |offset| this.record(offset))
    }

    /// Byte offsets of the records in the part.
    pub(super) fn offsets(&self) -> impl ExactSizeIterator<Item = usize> + use<> {
        let (first, len) = (self.first, self.form.record_len());
        (0..self.count).map(move |index| first + index * len)
    }

    fn record(&self, offset: usize) -> Result<SignatureRecord<'a>> {
        let part = &self.part;
        let (stream, words) = match self.form {
            Form::Plain => (0, offset),
            Form::Stream | Form::StreamAndPrecision => (part.u32_at(offset)?, offset + 4),
        };
        let min_precision = match self.form {
            Form::StreamAndPrecision => part.u32_at(words + 24)?,
            Form::Plain | Form::Stream => 0,
        };
        Ok(SignatureRecord {
            semantic: part.text_at(part.size_at(words)?)?,
            semantic_index: part.u32_at(words + 4)?,
            system_value: SignatureSystemValue(part.u32_at(words + 8)?),
            component_type: SignatureComponentType(part.u32_at(words + 12)?),
            register: part.u32_at(words + 16)?,
            mask: part.u8_at(words + 20)? & 0xf,
            exclusive_mask: part.u8_at(words + 21)? & 0xf,
            stream,
            min_precision: SignatureMinPrecision(min_precision),
        })
    }
}
