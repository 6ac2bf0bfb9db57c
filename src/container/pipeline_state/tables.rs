//! Signatures and dependency masks of `PSV0`, from its version 1 on.

use std::{borrow::Cow, collections::BTreeMap};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::PipelineState;
use crate::{
    Result,
    container::{InterpolationMode, Part, SemanticKind, ShaderKind, SignatureComponentType},
};

/// What follows the resources in the part, in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PipelineTables<'a> {
    /// Elements of the input signature.
    pub inputs: Vec<PipelineElement<'a>>,
    /// Elements of the output signature.
    pub outputs: Vec<PipelineElement<'a>>,
    /// Elements of the patch-constant or primitive signature.
    pub patch_constants: Vec<PipelineElement<'a>>,
    /// Components that depend on `SV_ViewID`, if the program reads it: of the outputs of each stream.
    pub view_id_to_outputs: Vec<StreamMask>,
    /// Components of patch constants and primitives that depend on `SV_ViewID`.
    pub view_id_to_patch_constants: Option<ComponentMask>,
    /// For each stream: the output components that each input component influences.
    pub input_to_outputs: Vec<StreamDependencies>,
    /// Hull shader: the patch-constant components that each input component influences.
    pub input_to_patch_constants: Option<Dependencies>,
    /// Domain shader: the output components that each patch-constant component influences.
    pub patch_constant_to_outputs: Option<Dependencies>,
    /// Bytes after all that: none, if the part is as it should be.
    pub trailing: usize,
}

/// One signature element (`PSVSignatureElement0`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PipelineElement<'a> {
    /// Semantic name; empty for system values.
    pub semantic: Cow<'a, str>,
    /// Semantic index of each row.
    pub semantic_indices: Vec<u32>,
    /// It has registers.
    pub allocated: bool,
    /// First row of the registers; means nothing without any.
    pub row: u8,
    /// First component in a row; means nothing without registers.
    pub column: u8,
    /// Components of a row.
    pub columns: u8,
    /// Meaning to the pipeline.
    pub kind: SemanticKind,
    /// Type of a component.
    pub component_type: SignatureComponentType,
    /// Interpolation of a pixel shader's input.
    pub interpolation: InterpolationMode,
    /// Components that are indexed dynamically.
    pub dynamic_mask: u8,
    /// Output stream.
    pub stream: u8,
}

/// One bit a component, four a register, in words of 32. Masks are equal that have the same components.
#[derive(Clone, Debug, Default)]
pub struct ComponentMask(pub Vec<u32>);

/// A mask of a stream's components.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamMask {
    /// The stream, 0 to 3.
    pub stream: u8,
    /// Its components.
    pub mask: ComponentMask,
}

/// For each component that comes in, the components that depend on it. Those past the end influence nothing.
#[derive(Clone, Debug)]
pub struct Dependencies(pub Vec<ComponentMask>);

/// Dependencies of a stream's components.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamDependencies {
    /// The stream, 0 to 3.
    pub stream: u8,
    /// For each input component, components of the stream.
    pub dependencies: Dependencies,
}

impl ComponentMask {
    /// The component is in the mask: 4 times its register, and 0 to 3.
    pub fn contains(&self, component: usize) -> bool {
        self.0.get(component / 32).is_some_and(|word| word >> (component % 32) & 1 == 1)
    }

    /// The components, by register and `x`, `y`, `z`, `w`: `0.xy`.
    fn text(&self) -> String {
        let register = |register: usize| {
            let lanes = (0..4).filter(|lane| self.contains(4 * register + lane));
            let lanes = lanes.map(|lane| char::from(b"xyzw"[lane])).collect::<String>();
            (!lanes.is_empty()).then(|| format!("{register}.{lanes}"))
        };
        (0..8 * self.0.len()).filter_map(register).collect::<Vec<_>>().join(" ")
    }

    /// The mask of such a text.
    fn from_text(text: &str) -> Option<Self> {
        let mut mask = Self::default();
        for register in text.split_whitespace() {
            for component in components(register)? {
                let word = component / 32;
                if mask.0.len() <= word {
                    mask.0.resize(word + 1, 0);
                }
                mask.0[word] |= 1 << (component % 32);
            }
        }
        Some(mask)
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }
}

/// The components that a text such as `3.xz` names.
fn components(text: &str) -> Option<Vec<usize>> {
    // More than any signature has: what is named is allocated.
    const MAX_REGISTER: usize = 1 << 16;
    let (register, lanes) = text.split_once('.')?;
    let register = register.parse::<usize>().ok().filter(|&register| register < MAX_REGISTER)?;
    lanes.bytes().map(|lane| Some(4 * register + b"xyzw".iter().position(|&name| name == lane)?)).collect()
}

impl PartialEq for ComponentMask {
    fn eq(&self, other: &Self) -> bool {
        let word = |mask: &Self, index: usize| mask.0.get(index).copied().unwrap_or(0);
        (0..self.0.len().max(other.0.len())).all(|index| word(self, index) == word(other, index))
    }
}

impl Eq for ComponentMask {}

impl PartialEq for Dependencies {
    fn eq(&self, other: &Self) -> bool {
        let (short, long) = if self.0.len() < other.0.len() { (self, other) } else { (other, self) };
        let (same, rest) = long.0.split_at(short.0.len());
        same == &short.0[..] && rest.iter().all(ComponentMask::is_empty)
    }
}

impl Eq for Dependencies {}

impl Serialize for ComponentMask {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

impl<'de> Deserialize<'de> for ComponentMask {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        Self::from_text(&text).ok_or_else(|| D::Error::custom(format!("no mask of components: {text}")))
    }
}

/// A map of the components that influence something to what they influence.
impl Serialize for Dependencies {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let lane = |component: usize| format!("{}.{}", component / 4, char::from(b"xyzw"[component % 4]));
        let used = self.0.iter().enumerate().filter(|(_, mask)| !mask.is_empty());
        serializer.collect_map(used.map(|(component, mask)| (lane(component), mask)))
    }
}

impl<'de> Deserialize<'de> for Dependencies {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut dependencies = Vec::new();
        for (name, mask) in BTreeMap::<Cow<'_, str>, ComponentMask>::deserialize(deserializer)? {
            let [component] = components(&name).unwrap_or_default()[..] else {
                return Err(D::Error::custom(format!("no component: {name}")));
            };
            if dependencies.len() <= component {
                dependencies.resize(component + 1, ComponentMask::default());
            }
            dependencies[component] = mask;
        }
        Ok(Self(dependencies))
    }
}

/// Counts that `PSVRuntimeInfo1` gives.
struct Counts {
    stage: ShaderKind,
    uses_view_id: bool,
    elements: [usize; 3],
    input_vectors: usize,
    patch_constant_vectors: usize,
    output_vectors: [usize; 4],
}

/// Reads one thing after the other.
struct Cursor<'a> {
    part: Part<'a>,
    offset: usize,
}

impl<'a> Cursor<'a> {
    fn word(&mut self) -> Result<usize> {
        let word = self.part.size_at(self.offset)?;
        self.offset += 4;
        Ok(word)
    }

    fn bytes(&mut self, len: usize) -> Result<&'a [u8]> {
        let bytes = self.part.bytes_at(self.offset, len)?;
        self.offset += len;
        Ok(bytes)
    }

    /// A mask of the components of so many registers.
    fn mask(&mut self, vectors: usize) -> Result<ComponentMask> {
        let words = self.bytes(vectors.div_ceil(8) * 4)?.as_chunks::<4>().0;
        Ok(ComponentMask(words.iter().map(|&bytes| u32::from_le_bytes(bytes)).collect()))
    }

    fn dependencies(&mut self, from: usize, to: usize) -> Result<Dependencies> {
        (0..4 * from).map(|_| self.mask(to)).collect::<Result<_>>().map(Dependencies)
    }
}

impl<'a> PipelineState<'a> {
    /// Signatures and dependency masks; none in the part's version 0.
    ///
    /// # Errors
    /// Something passes the end of the part.
    pub fn tables(&self) -> Result<Option<PipelineTables<'a>>> {
        let Some(counts) = self.counts()? else { return Ok(None) };
        let part = self.part;
        let mut cursor = Cursor { part, offset: Self::INFO + self.info_len };
        let resources = cursor.word()?;
        if resources > 0 {
            let stride = cursor.word()?;
            part.check_records(cursor.offset, resources, stride)?;
            cursor.offset += resources * stride;
        }
        let len = cursor.word()?;
        let strings = cursor.bytes(len)?;
        let count = cursor.word()?;
        part.check_records(cursor.offset, count, 4)?;
        let indices = cursor.bytes(4 * count)?.as_chunks::<4>().0;

        let mut signatures = [Vec::new(), Vec::new(), Vec::new()];
        if counts.elements.iter().any(|&count| count > 0) {
            let stride = cursor.word()?;
            if stride < 16 {
                return Err(part.malformed(cursor.offset - 4, format!("elements are too short: {stride} bytes")));
            }
            for (signature, count) in signatures.iter_mut().zip(counts.elements) {
                for offset in part.records(cursor.offset, count, stride)? {
                    signature.push(element(&part, offset, strings, indices)?);
                }
                cursor.offset += count * stride;
            }
        }
        let [inputs, outputs, patch_constants] = signatures;
        let mut tables = PipelineTables { inputs, outputs, patch_constants, ..Default::default() };

        let stage = counts.stage;
        let streams = if stage == ShaderKind::GEOMETRY { 4 } else { 1 };
        let streams = || (0..).zip(counts.output_vectors).take(streams).filter(|&(_, vectors)| vectors > 0);
        if counts.uses_view_id {
            for (stream, vectors) in streams() {
                tables.view_id_to_outputs.push(StreamMask { stream, mask: cursor.mask(vectors)? });
            }
            if [ShaderKind::HULL, ShaderKind::MESH].contains(&stage) && counts.patch_constant_vectors > 0 {
                tables.view_id_to_patch_constants = Some(cursor.mask(counts.patch_constant_vectors)?);
            }
        }
        if stage != ShaderKind::MESH && counts.input_vectors > 0 {
            for (stream, vectors) in streams() {
                let dependencies = cursor.dependencies(counts.input_vectors, vectors)?;
                tables.input_to_outputs.push(StreamDependencies { stream, dependencies });
            }
        }
        if stage == ShaderKind::HULL && counts.patch_constant_vectors > 0 && counts.input_vectors > 0 {
            let dependencies = cursor.dependencies(counts.input_vectors, counts.patch_constant_vectors)?;
            tables.input_to_patch_constants = Some(dependencies);
        }
        if stage == ShaderKind::DOMAIN && counts.patch_constant_vectors > 0 && counts.output_vectors[0] > 0 {
            let dependencies = cursor.dependencies(counts.patch_constant_vectors, counts.output_vectors[0])?;
            tables.patch_constant_to_outputs = Some(dependencies);
        }
        tables.trailing = part.data.len() - cursor.offset;
        Ok(Some(tables))
    }

    fn counts(&self) -> Result<Option<Counts>> {
        if self.info_len < 36 {
            return Ok(None);
        }
        let byte = |offset: usize| self.part.u8_at(Self::INFO + offset).map(usize::from);
        Ok(Some(Counts {
            stage: ShaderKind(byte(24)? as u32),
            uses_view_id: byte(25)? != 0,
            patch_constant_vectors: byte(26)?,
            elements: [byte(28)?, byte(29)?, byte(30)?],
            input_vectors: byte(31)?,
            output_vectors: [byte(32)?, byte(33)?, byte(34)?, byte(35)?],
        }))
    }
}

fn element<'a>(part: &Part<'a>, offset: usize, strings: &'a [u8], indices: &[[u8; 4]]) -> Result<PipelineElement<'a>> {
    let name = part.size_at(offset)?;
    let text = strings.get(name..).and_then(|rest| rest.split(|&byte| byte == 0).next());
    let semantic = match text {
        Some(text) => String::from_utf8_lossy(text),
        // A table without strings, and an element without a name.
        None if name == 0 => Cow::Borrowed(""),
        None => return Err(part.malformed(offset, format!("a name passes the end of the strings: {name}"))),
    };
    let (first, rows) = (part.size_at(offset + 4)?, usize::from(part.u8_at(offset + 8)?));
    let semantic_indices = first.checked_add(rows).and_then(|end| indices.get(first..end)).ok_or_else(|| {
        part.malformed(offset + 4, format!("semantic indices pass the end of their table: {rows} from {first}"))
    })?;
    let columns = part.u8_at(offset + 10)?;
    let dynamic = part.u8_at(offset + 14)?;
    Ok(PipelineElement {
        semantic,
        semantic_indices: semantic_indices.iter().map(|&bytes| u32::from_le_bytes(bytes)).collect(),
        allocated: columns & 0x40 != 0,
        row: part.u8_at(offset + 9)?,
        column: columns >> 4 & 3,
        columns: columns & 0xf,
        kind: SemanticKind(part.u8_at(offset + 11)?),
        component_type: SignatureComponentType(part.u8_at(offset + 12)?.into()),
        interpolation: InterpolationMode(part.u8_at(offset + 13)?),
        dynamic_mask: dynamic & 0xf,
        stream: dynamic >> 4 & 3,
    })
}
