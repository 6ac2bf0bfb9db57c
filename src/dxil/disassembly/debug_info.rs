//! Nodes of debug information: `!DISubprogram(name: "main", ...)`.
//!
//! Source of the records: LLVM 3.7's `BitcodeReader::parseMetadata`; of what is written, its "Specialized Metadata Nodes".

use super::{
    Listing,
    dwarf::{self, Names},
    names::escaped,
};
use crate::{
    Error, Result,
    dxil::module::{Location, Metadata, MetadataId, MetadataOperand},
};

/// Codes of the records (`bitc::MetadataCodes`) that need more than a table.
pub(super) const LOCATION: u32 = 7;
const GENERIC: u32 = 12;
pub(super) const SUBPROGRAM: u32 = 21;
const LEXICAL_BLOCK: u32 = 22;
const LEXICAL_BLOCK_FILE: u32 = 23;
pub(super) const LOCAL_VARIABLE: u32 = 28;
pub(super) const EXPRESSION: u32 = 29;

/// How a field is written, and where its value stands in the record.
#[derive(Clone, Copy)]
enum Form {
    /// DWARF tag; left out if it is the one of the second number.
    Tag(u64),
    /// String, left out if it is empty.
    Text,
    /// String.
    TextAlways,
    /// Other metadata, left out if there is none.
    Node,
    /// Other metadata, or `null`.
    NodeAlways,
    /// Number, left out if it is 0.
    Number,
    /// Number.
    NumberAlways,
    /// Number of 64 bits with a sign.
    SignedAlways,
    /// Number with its sign in bit 0, left out if it is 0.
    Rotated,
    /// Number with its sign in bit 0.
    RotatedAlways,
    /// Truth.
    Boolean,
    /// Flags of `DINode`.
    Flags,
    /// Number that DWARF names, left out if it is 0.
    Named(Names),
}
use Form::*;

/// A kind of node.
struct Kind {
    /// Number in `bitc::MetadataCodes`.
    code: u32,
    name: &'static str,
    /// Number of operands in its record; older records may have fewer.
    operands: std::ops::RangeInclusive<usize>,
    /// Fields in the order of writing: name, position in the record, form.
    fields: &'static [(&'static str, usize, Form)],
    /// Positions of the nodes it refers to, in the order of LLVM's operands.
    members: &'static [usize],
}

/// A tag that is always written.
const ANY: Form = Tag(0);

#[rustfmt::skip]
static KINDS: [Kind; 18] = [
    Kind { code: 13, name: "DISubrange", operands: 3..=3, members: &[],
        fields: &[("count", 1, SignedAlways), ("lowerBound", 2, Rotated)] },
    Kind { code: 14, name: "DIEnumerator", operands: 3..=3, members: &[],
        fields: &[("name", 2, TextAlways), ("value", 1, RotatedAlways)] },
    Kind { code: 15, name: "DIBasicType", operands: 6..=6, members: &[],
        fields: &[("tag", 1, Tag(dwarf::BASE_TYPE)), ("name", 2, Text), ("size", 3, Number), ("align", 4, Number),
            ("encoding", 5, Named(dwarf::ENCODINGS))] },
    Kind { code: 16, name: "DIFile", operands: 3..=3, members: &[],
        fields: &[("filename", 1, TextAlways), ("directory", 2, TextAlways)] },
    Kind { code: 17, name: "DIDerivedType", operands: 12..=12, members: &[3, 5, 6, 11],
        fields: &[("tag", 1, ANY), ("name", 2, Text), ("scope", 5, Node), ("file", 3, Node), ("line", 4, Number),
            ("baseType", 6, NodeAlways), ("size", 7, Number), ("align", 8, Number), ("offset", 9, Number),
            ("flags", 10, Flags), ("extraData", 11, Node)] },
    Kind { code: 18, name: "DICompositeType", operands: 16..=16, members: &[3, 5, 6, 11, 13, 14],
        fields: &[("tag", 1, ANY), ("name", 2, Text), ("scope", 5, Node), ("file", 3, Node), ("line", 4, Number),
            ("baseType", 6, Node), ("size", 7, Number), ("align", 8, Number), ("offset", 9, Number),
            ("flags", 10, Flags), ("elements", 11, Node), ("runtimeLang", 12, Named(dwarf::LANGUAGES)),
            ("vtableHolder", 13, Node), ("templateParams", 14, Node), ("identifier", 15, Text)] },
    Kind { code: 19, name: "DISubroutineType", operands: 3..=3, members: &[2],
        fields: &[("flags", 1, Flags), ("types", 2, NodeAlways)] },
    Kind { code: 20, name: "DICompileUnit", operands: 14..=15, members: &[2, 9, 10, 11, 12, 13],
        fields: &[("language", 1, Named(dwarf::LANGUAGES)), ("file", 2, NodeAlways), ("producer", 3, Text),
            ("isOptimized", 4, Boolean), ("flags", 5, Text), ("runtimeVersion", 6, NumberAlways),
            ("splitDebugFilename", 7, Text), ("emissionKind", 8, NumberAlways), ("enums", 9, Node),
            ("retainedTypes", 10, Node), ("subprograms", 11, Node), ("globals", 12, Node), ("imports", 13, Node),
            ("dwoId", 14, Number)] },
    Kind { code: SUBPROGRAM, name: "DISubprogram", operands: 19..=19, members: &[4, 1, 6, 10, 15, 16, 17, 18],
        fields: &[("name", 2, Text), ("linkageName", 3, Text), ("scope", 1, NodeAlways), ("file", 4, Node),
            ("line", 5, Number), ("type", 6, Node), ("isLocal", 7, Boolean), ("isDefinition", 8, Boolean),
            ("scopeLine", 9, Number), ("containingType", 10, Node), ("virtuality", 11, Named(dwarf::VIRTUALITY)),
            ("virtualIndex", 12, Number), ("flags", 13, Flags), ("isOptimized", 14, Boolean), ("function", 15, Node),
            ("templateParams", 16, Node), ("declaration", 17, Node), ("variables", 18, Node)] },
    Kind { code: LEXICAL_BLOCK, name: "DILexicalBlock", operands: 5..=5, members: &[2, 1],
        fields: &[("scope", 1, NodeAlways), ("file", 2, Node), ("line", 3, Number), ("column", 4, Number)] },
    Kind { code: LEXICAL_BLOCK_FILE, name: "DILexicalBlockFile", operands: 4..=4, members: &[2, 1],
        fields: &[("scope", 1, NodeAlways), ("file", 2, Node), ("discriminator", 3, NumberAlways)] },
    Kind { code: 24, name: "DINamespace", operands: 5..=5, members: &[2, 1],
        fields: &[("name", 3, Text), ("scope", 1, NodeAlways), ("file", 2, Node), ("line", 4, Number)] },
    Kind { code: 25, name: "DITemplateTypeParameter", operands: 3..=3, members: &[2],
        fields: &[("name", 1, Text), ("type", 2, NodeAlways)] },
    Kind { code: 26, name: "DITemplateValueParameter", operands: 5..=5, members: &[3, 4],
        fields: &[("tag", 1, Tag(dwarf::TEMPLATE_VALUE)), ("name", 2, Text), ("type", 3, Node),
            ("value", 4, NodeAlways)] },
    Kind { code: 27, name: "DIGlobalVariable", operands: 11..=11, members: &[1, 4, 6, 9, 10],
        fields: &[("name", 2, Text), ("linkageName", 3, Text), ("scope", 1, NodeAlways), ("file", 4, Node),
            ("line", 5, Number), ("type", 6, Node), ("isLocal", 7, Boolean), ("isDefinition", 8, Boolean),
            ("variable", 9, Node), ("declaration", 10, Node)] },
    // An older record has one operand more.
    Kind { code: LOCAL_VARIABLE, name: "DILocalVariable", operands: 9..=10, members: &[2, 4, 6],
        fields: &[("tag", 1, ANY), ("name", 3, Text), ("arg", 7, Number), ("scope", 2, NodeAlways), ("file", 4, Node),
            ("line", 5, Number), ("type", 6, Node), ("flags", 8, Flags)] },
    Kind { code: 31, name: "DIImportedEntity", operands: 6..=6, members: &[2, 3],
        fields: &[("tag", 1, ANY), ("name", 5, Text), ("scope", 2, NodeAlways), ("entity", 3, Node),
            ("line", 4, Number)] },
    Kind { code: 32, name: "DIModule", operands: 6..=6, members: &[1],
        fields: &[("scope", 1, NodeAlways), ("name", 2, Text), ("configMacros", 3, Text), ("includePath", 4, Text),
            ("isysroot", 5, Text)] },
];

/// Flags of `DINode`, above the two bits of accessibility.
const FLAGS: [(u64, &str); 13] = [
    (1 << 2, "DIFlagFwdDecl"),
    (1 << 3, "DIFlagAppleBlock"),
    (1 << 4, "DIFlagBlockByrefStruct"),
    (1 << 5, "DIFlagVirtual"),
    (1 << 6, "DIFlagArtificial"),
    (1 << 7, "DIFlagExplicit"),
    (1 << 8, "DIFlagPrototyped"),
    (1 << 9, "DIFlagObjcClassComplete"),
    (1 << 10, "DIFlagObjectPointer"),
    (1 << 11, "DIFlagVector"),
    (1 << 12, "DIFlagStaticMember"),
    (1 << 13, "DIFlagLValueReference"),
    (1 << 14, "DIFlagRValueReference"),
];

fn kind(code: u32, operands: &[u64]) -> Result<&'static Kind> {
    let kind = KINDS.iter().find(|kind| kind.code == code);
    let kind = kind.ok_or_else(|| Error::unsupported(format!("debug information of a kind without use: {code}")))?;
    if !kind.operands.contains(&operands.len()) {
        return Err(Error::malformed(format!("{} has another number of operands: {}", kind.name, operands.len())));
    }
    Ok(kind)
}

/// A reference of a record: an id plus 1, or 0 for none.
pub(super) fn reference(operand: u64) -> Result<Option<MetadataId>> {
    match u32::try_from(operand) {
        Ok(id) => Ok(id.checked_sub(1).map(MetadataId)),
        Err(_) => Err(Error::malformed("metadata id exceeds 32 bits")),
    }
}

/// The location of a record: `[distinct, line, column, scope, inlined at + 1]`.
pub(super) fn location(operands: &[u64]) -> Result<Location> {
    let &[_, line, column, scope, inlined_at] = operands else {
        return Err(Error::malformed(format!("DILocation has another number of operands: {}", operands.len())));
    };
    let scope = u32::try_from(scope).map_err(|_| Error::malformed("metadata id exceeds 32 bits"))?;
    // LLVM keeps 32 and 16 bits of these.
    let column = if column > u64::from(u16::MAX) { 0 } else { column as u32 };
    let (line, scope) = (line as u32, Some(MetadataId(scope)));
    Ok(Location { line, column, scope, inlined_at: reference(inlined_at)? })
}

/// What a node refers to, in the order of LLVM's operands, strings aside.
pub(super) fn members(code: u32, operands: &[u64]) -> Result<Vec<MetadataOperand>> {
    let member = |id: Option<MetadataId>| id.map_or(MetadataOperand::Null, MetadataOperand::Metadata);
    match code {
        LOCATION => {
            let location = location(operands)?;
            Ok(vec![member(location.scope), member(location.inlined_at)])
        }
        GENERIC => operands.iter().skip(4).map(|&operand| reference(operand).map(member)).collect(),
        EXPRESSION => Ok(Vec::new()),
        _ => kind(code, operands)?.members.iter().map(|&at| reference(operands[at]).map(member)).collect(),
    }
}

impl Listing<'_> {
    /// A node of debug information.
    pub(super) fn debug_node(&mut self, code: u32, operands: &[u64]) -> Result<()> {
        if operands.first().is_some_and(|&distinct| distinct != 0) {
            self.push("distinct ");
        }
        match code {
            LOCATION => return self.location(location(operands)?),
            GENERIC => return self.generic(operands),
            EXPRESSION => return self.expression(operands),
            _ => {}
        }
        let kind = kind(code, operands)?;
        self.write(format_args!("!{}(", kind.name))?;
        let start = self.text.len();
        for &(name, at, form) in kind.fields {
            let form = match form {
                // Parameters have their number, even if it is 0.
                Number if code == LOCAL_VARIABLE && name == "arg" && operands[1] != dwarf::AUTO_VARIABLE => {
                    NumberAlways
                }
                form => form,
            };
            let Some(&operand) = operands.get(at) else { continue };
            let before = self.text.len();
            if before != start {
                self.push(", ");
            }
            self.write(format_args!("{name}: "))?;
            if !self.field(form, operand)? {
                self.text.truncate(before);
            }
        }
        self.push(")");
        Ok(())
    }

    /// The value of a field; false if the field is left out.
    fn field(&mut self, form: Form, operand: u64) -> Result<bool> {
        match form {
            Tag(usual) if usual == operand && usual != 0 => return Ok(false),
            Tag(_) => self.dwarf(dwarf::TAGS, operand)?,
            Text | TextAlways => {
                let string = match reference(operand)? {
                    None => "",
                    Some(id) => match self.metadata_of(id)? {
                        Metadata::String(string) => string,
                        _ => return Err(Error::malformed("metadata is no string")),
                    },
                };
                if string.is_empty() && matches!(form, Text) {
                    return Ok(false);
                }
                self.push("\"");
                escaped(&mut self.text, string);
                self.push("\"");
            }
            Node | NodeAlways => match reference(operand)? {
                Some(id) => self.metadata(id)?,
                None if matches!(form, Node) => return Ok(false),
                None => self.push("null"),
            },
            Number | Rotated | Flags | Named(_) if operand == 0 => return Ok(false),
            Number | NumberAlways => self.write(format_args!("{operand}"))?,
            SignedAlways => self.write(format_args!("{}", operand as i64))?,
            Rotated | RotatedAlways => {
                let value = (operand >> 1) as i64;
                self.write(format_args!("{}", if operand & 1 != 0 { value.wrapping_neg() } else { value }))?;
            }
            Boolean => self.push(if operand != 0 { "true" } else { "false" }),
            Flags => self.flags(operand)?,
            Named(names) => self.dwarf(names, operand)?,
        }
        Ok(true)
    }

    fn dwarf(&mut self, names: Names, number: u64) -> Result<()> {
        match dwarf::name(names, number) {
            Some(name) => {
                self.push(name);
                Ok(())
            }
            None => self.write(format_args!("{number}")),
        }
    }

    fn flags(&mut self, flags: u64) -> Result<()> {
        let access = [None, Some("DIFlagPrivate"), Some("DIFlagProtected"), Some("DIFlagPublic")];
        let mut names: Vec<String> = access[(flags & 3) as usize].map(str::to_owned).into_iter().collect();
        names.extend(FLAGS.iter().filter(|(flag, _)| flags & flag != 0).map(|(_, name)| (*name).to_owned()));
        let known = FLAGS.iter().fold(3, |known, (flag, _)| known | flag);
        if flags & !known != 0 {
            names.push((flags & !known).to_string());
        }
        self.push(&names.join(" | "));
        Ok(())
    }

    /// `!DILocation(line: 1, column: 2, scope: !3)`.
    pub(super) fn location(&mut self, location: Location) -> Result<()> {
        self.write(format_args!("!DILocation(line: {}", location.line))?;
        if location.column != 0 {
            self.write(format_args!(", column: {}", location.column))?;
        }
        self.push(", scope: ");
        match location.scope {
            Some(scope) => self.metadata(scope)?,
            None => self.push("null"),
        }
        if let Some(inlined_at) = location.inlined_at {
            self.push(", inlinedAt: ");
            self.metadata(inlined_at)?;
        }
        self.push(")");
        Ok(())
    }

    /// `!GenericDINode(tag: DW_TAG_member, header: "", operands: {!1})`.
    fn generic(&mut self, operands: &[u64]) -> Result<()> {
        let [_, tag, _, header, members @ ..] = operands else {
            return Err(Error::malformed("GenericDINode has too few operands"));
        };
        self.push("!GenericDINode(tag: ");
        self.dwarf(dwarf::TAGS, *tag)?;
        let before = self.text.len();
        self.push(", header: ");
        if !self.field(Text, *header)? {
            self.text.truncate(before);
        }
        if !members.is_empty() {
            self.push(", operands: {");
            for (index, &member) in members.iter().enumerate() {
                if index > 0 {
                    self.push(", ");
                }
                self.field(NodeAlways, member)?;
            }
            self.push("}");
        }
        self.push(")");
        Ok(())
    }

    /// `!DIExpression(DW_OP_bit_piece, 0, 32)`, of a record's operands.
    pub(super) fn expression(&mut self, operands: &[u64]) -> Result<()> {
        let elements = operands.get(1..).unwrap_or_default();
        let mut words = Vec::new();
        let mut rest = elements;
        while let Some((&op, after)) = rest.split_first() {
            let (name, count) = match op {
                dwarf::DEREF => ("DW_OP_deref", 0),
                dwarf::PLUS => ("DW_OP_plus", 1),
                dwarf::BIT_PIECE => ("DW_OP_bit_piece", 2),
                _ => break,
            };
            // A piece ends its expression.
            if after.len() < count || op == dwarf::BIT_PIECE && after.len() != count {
                break;
            }
            words.push(name.to_owned());
            words.extend(after[..count].iter().map(u64::to_string));
            rest = &after[count..];
        }
        if !rest.is_empty() {
            words = elements.iter().map(u64::to_string).collect();
        }
        self.write(format_args!("!DIExpression({})", words.join(", ")))
    }

    /// Name of the function that a debug node of a scope lies in.
    pub(super) fn function_of_scope(&self, mut id: MetadataId) -> Result<Option<&str>> {
        // A scope that contains itself has no function.
        for _ in 0..self.module.metadata.len() {
            let Metadata::Debug(code, operands) = self.metadata_of(id)? else { return Ok(None) };
            let operand = |at: usize| reference(operands.get(at).copied().unwrap_or(0));
            match *code {
                SUBPROGRAM => return Ok(Some(self.string(operand(2)?)?)),
                LEXICAL_BLOCK | LEXICAL_BLOCK_FILE => match operand(1)? {
                    Some(scope) => id = scope,
                    None => return Ok(None),
                },
                _ => return Ok(None),
            }
        }
        Ok(None)
    }

    /// A string; empty if there is none.
    pub(super) fn string(&self, id: Option<MetadataId>) -> Result<&str> {
        match id.map(|id| self.metadata_of(id)).transpose()? {
            None => Ok(""),
            Some(Metadata::String(string)) => Ok(string),
            Some(_) => Err(Error::malformed("metadata is no string")),
        }
    }
}
