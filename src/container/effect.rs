//! `FX10`, and files of `fx_5_0`: effects of Direct3D 10 and 11.
//!
//! An effect is a header of counts, a block of texts, types, values and shaders, and then records one after the other that
//! refer into the block: constant buffers with their variables, objects (textures, samplers, states, shaders, strings),
//! interfaces, and techniques with their passes. Each is followed by its annotations. fxc puts effects of `fx_4_0` and
//! `fx_4_1` into an `FX10` part, that of `fx_5_0` is a file of its own.
//!
//! Source: `EffectBinaryFormat.h` of Microsoft's FX11.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Part, enumeration::enumeration};
use crate::Result;

/// An effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect<'a> {
    /// Version of the format.
    pub version: EffectVersion,
    /// What the header counts.
    pub counts: EffectCounts,
    /// The contents; none in an effect that shares variables of a pool, whose records are laid out in a way that is not
    /// known.
    pub contents: Option<EffectContents<'a>>,
}

enumeration! {
    /// The first word of an effect.
    EffectVersion: u32 {
        FX_4_0 = 0xfeff_1001 "fx_4_0",
        FX_4_1 = 0xfeff_1011 "fx_4_1",
        FX_5_0 = 0xfeff_2001 "fx_5_0",
    }
}

/// Counts of the header (`SBinaryHeader`, `SBinaryHeader5`); the last five are 0 before `fx_5_0`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct EffectCounts {
    pub constant_buffers: u32,
    pub numeric_variables: u32,
    pub object_variables: u32,
    pub pool_constant_buffers: u32,
    pub pool_numeric_variables: u32,
    pub pool_object_variables: u32,
    pub techniques: u32,
    /// Bytes of the block of texts, types, values and shaders.
    pub block_size: u32,
    pub strings: u32,
    pub shader_resources: u32,
    pub depth_stencil_states: u32,
    pub blend_states: u32,
    pub rasterizer_states: u32,
    pub samplers: u32,
    pub render_target_views: u32,
    pub depth_stencil_views: u32,
    pub shaders: u32,
    /// Those of the shaders that passes define themselves.
    pub inline_shaders: u32,
    pub groups: u32,
    pub unordered_access_views: u32,
    pub interface_variables: u32,
    pub interface_elements: u32,
    pub class_instances: u32,
}

/// What an effect defines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectContents<'a> {
    /// Constant and texture buffers.
    pub buffers: Vec<EffectBuffer<'a>>,
    /// Textures, samplers, states, shaders, strings, views.
    pub objects: Vec<EffectVariable<'a>>,
    /// Interfaces of dynamic linkage.
    pub interfaces: Vec<EffectVariable<'a>>,
    /// Groups of techniques; before `fx_5_0` there is one, without a name.
    pub groups: Vec<EffectGroup<'a>>,
    /// The shaders, each a container in the part, which [`Carver`](super::Carver) finds too.
    pub shaders: Vec<EffectShader<'a>>,
}

/// A constant buffer, or texture buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectBuffer<'a> {
    /// Name.
    pub name: Cow<'a, str>,
    /// Bytes.
    pub size: u32,
    /// 1 a texture buffer, 2 a single buffer.
    pub flags: u32,
    /// Register that the source asks for.
    pub register: Option<u32>,
    /// Names of its annotations.
    pub annotations: Vec<Cow<'a, str>>,
    /// Variables.
    pub variables: Vec<EffectVariable<'a>>,
}

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectVariable<'a> {
    /// Name.
    pub name: Cow<'a, str>,
    /// Name of its type.
    pub ty: Cow<'a, str>,
    /// Elements of an array, 0 if it is none.
    pub elements: u32,
    /// Semantic, if it has one.
    pub semantic: Option<Cow<'a, str>>,
    /// Byte offset in its buffer, if it is in one.
    pub offset: Option<u32>,
    /// Register that the source asks for, of objects.
    pub register: Option<u32>,
    /// Names of its annotations.
    pub annotations: Vec<Cow<'a, str>>,
}

/// Techniques under one name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectGroup<'a> {
    /// Name, if it has one.
    pub name: Cow<'a, str>,
    /// Names of its annotations.
    pub annotations: Vec<Cow<'a, str>>,
    /// Techniques.
    pub techniques: Vec<EffectTechnique<'a>>,
}

/// A technique.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectTechnique<'a> {
    /// Name.
    pub name: Cow<'a, str>,
    /// Names of its annotations.
    pub annotations: Vec<Cow<'a, str>>,
    /// Passes.
    pub passes: Vec<EffectPass<'a>>,
}

/// A pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectPass<'a> {
    /// Name.
    pub name: Cow<'a, str>,
    /// Names of its annotations.
    pub annotations: Vec<Cow<'a, str>>,
    /// What it sets.
    pub assignments: Vec<EffectAssignment>,
}

/// A state that is set (`SBinaryAssignment`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectAssignment {
    /// Number of the state in the effect compiler's table.
    pub state: u32,
    /// Which of several of its kind.
    pub index: u32,
    /// Where the value comes from.
    pub kind: EffectAssignmentKind,
    /// Byte offset in the part of what tells the value.
    pub value: usize,
}

enumeration! {
    /// `ECompilerAssignmentType`.
    EffectAssignmentKind: u32 {
        INVALID = 0 "Invalid",
        CONSTANT = 1 "Constant",
        VARIABLE = 2 "Variable",
        CONSTANT_INDEX = 3 "ConstIndex",
        VARIABLE_INDEX = 4 "VariableIndex",
        EXPRESSION_INDEX = 5 "ExpressionIndex",
        EXPRESSION = 6 "Expression",
        INLINE_SHADER = 7 "InlineShader",
        INLINE_SHADER_5 = 8 "InlineShader5",
    }
}

/// A shader of an effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectShader<'a> {
    /// Name of the variable or pass that it belongs to.
    pub owner: Cow<'a, str>,
    /// Byte offset of its container in the part.
    pub offset: usize,
    /// Bytes of its container.
    pub size: usize,
}

/// `EVT_Object` of `EVarType`.
const OBJECT: u32 = 2;

/// Numbers of `EObjectType` whose variables have a value.
mod object {
    pub const STRING: u32 = 1;
    pub const BLEND: u32 = 2;
    pub const RASTERIZER: u32 = 4;
    pub const PIXEL_SHADER: u32 = 5;
    pub const GEOMETRY_SHADER: u32 = 7;
    pub const GEOMETRY_SHADER_WITH_OUTPUT: u32 = 8;
    pub const SAMPLER: u32 = 21;
    pub const PIXEL_SHADER_5: u32 = 25;
    pub const DOMAIN_SHADER_5: u32 = 30;
}

impl<'a> Effect<'a> {
    /// The bytes begin like an effect.
    pub fn recognizes(bytes: &[u8]) -> bool {
        let version = bytes.first_chunk::<4>().map(|&word| EffectVersion(u32::from_le_bytes(word)));
        version.is_some_and(|version| version.name().is_some())
    }

    /// Reads an effect: an `FX10` part, or a file in the place of one.
    ///
    /// # Errors
    /// The version is not known, or a record, text or shader is not within the part.
    pub fn parse(part: Part<'a>) -> Result<Self> {
        let version = EffectVersion(part.u32_at(0)?);
        if version.name().is_none() {
            return Err(part.malformed(0, format!("unknown version of effects: {:#x}", version.0)));
        }
        let later = |index: usize| if version == EffectVersion::FX_5_0 { part.u32_at(4 * index) } else { Ok(0) };
        let word = |index: usize| part.u32_at(4 * index);
        let counts = EffectCounts {
            constant_buffers: word(1)?,
            numeric_variables: word(2)?,
            object_variables: word(3)?,
            pool_constant_buffers: word(4)?,
            pool_numeric_variables: word(5)?,
            pool_object_variables: word(6)?,
            techniques: word(7)?,
            block_size: word(8)?,
            strings: word(9)?,
            shader_resources: word(10)?,
            depth_stencil_states: word(11)?,
            blend_states: word(12)?,
            rasterizer_states: word(13)?,
            samplers: word(14)?,
            render_target_views: word(15)?,
            depth_stencil_views: word(16)?,
            shaders: word(17)?,
            inline_shaders: word(18)?,
            groups: later(19)?,
            unordered_access_views: later(20)?,
            interface_variables: later(21)?,
            interface_elements: later(22)?,
            class_instances: later(23)?,
        };
        let block = if version == EffectVersion::FX_5_0 { 24 * 4 } else { 19 * 4 };
        part.bytes_at(block, counts.block_size as usize)?;
        let pool = counts.pool_constant_buffers | counts.pool_numeric_variables | counts.pool_object_variables;
        let contents = if pool == 0 {
            let offset = block + counts.block_size as usize;
            let reader = EffectReader { part, block, offset, shaders: Vec::new() };
            Some(reader.contents(&counts, version)?)
        } else {
            None
        };
        Ok(Self { version, counts, contents })
    }
}

/// What the records that follow the block need of a type.
struct EffectType<'a> {
    name: Cow<'a, str>,
    elements: u32,
    /// `EObjectType`, if it is one of objects.
    object: Option<u32>,
}

/// Reads the records one after the other.
struct EffectReader<'a> {
    part: Part<'a>,
    /// Where the block is that offsets count from.
    block: usize,
    offset: usize,
    shaders: Vec<EffectShader<'a>>,
}

impl<'a> EffectReader<'a> {
    fn word(&mut self) -> Result<u32> {
        let word = self.part.u32_at(self.offset)?;
        self.offset += 4;
        Ok(word)
    }

    fn text_at(&self, offset: u32) -> Result<Cow<'a, str>> {
        self.part.text_at(self.block.saturating_add(offset as usize))
    }

    fn text(&mut self) -> Result<Cow<'a, str>> {
        let offset = self.word()?;
        self.text_at(offset)
    }

    fn type_at(&self, offset: u32) -> Result<EffectType<'a>> {
        let at = self.block.saturating_add(offset as usize);
        let word = |index: usize| self.part.u32_at(at.saturating_add(4 * index));
        let object = if word(1)? == OBJECT { Some(word(6)?) } else { None };
        Ok(EffectType { name: self.text_at(word(0)?)?, elements: word(2)?, object })
    }

    /// Items of which each takes bytes, so that their count needs no other limit.
    fn list<T>(&mut self, count: u32, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        (0..count).map(|_| item(self)).collect()
    }

    /// Annotations: their number, then name, type and value of each.
    fn annotations(&mut self) -> Result<Vec<Cow<'a, str>>> {
        let count = self.word()?;
        self.list(count, |this| {
            let name = this.text()?;
            let ty = this.word()?;
            let ty = this.type_at(ty)?;
            let values = if ty.object.is_some() { ty.elements.max(1) } else { 1 };
            this.skip(values, 4)?;
            Ok(name)
        })
    }

    /// Passes over records.
    fn skip(&mut self, count: u32, len: usize) -> Result<()> {
        self.part.check_records(self.offset, count as usize, len)?;
        self.offset += count as usize * len;
        Ok(())
    }

    fn contents(mut self, counts: &EffectCounts, version: EffectVersion) -> Result<EffectContents<'a>> {
        let buffers = self.list(counts.constant_buffers, Self::buffer)?;
        let objects = self.list(counts.object_variables, Self::object)?;
        let interfaces = self.list(counts.interface_variables, Self::interface)?;
        let groups = if version == EffectVersion::FX_5_0 {
            self.list(counts.groups, |this| {
                let (name, count) = (this.text()?, this.word()?);
                let annotations = this.annotations()?;
                Ok(EffectGroup { name, annotations, techniques: this.list(count, Self::technique)? })
            })?
        } else {
            let techniques = self.list(counts.techniques, Self::technique)?;
            vec![EffectGroup { name: Cow::Borrowed(""), annotations: Vec::new(), techniques }]
        };
        Ok(EffectContents { buffers, objects, interfaces, groups, shaders: self.shaders })
    }

    fn buffer(&mut self) -> Result<EffectBuffer<'a>> {
        let name = self.text()?;
        let (size, flags, count, register) = (self.word()?, self.word()?, self.word()?, self.word()?);
        Ok(EffectBuffer {
            name,
            size,
            flags,
            register: (register != u32::MAX).then_some(register),
            annotations: self.annotations()?,
            variables: self.list(count, Self::numeric)?,
        })
    }

    /// A variable's name, type and semantic.
    fn variable(&mut self) -> Result<(EffectVariable<'a>, EffectType<'a>)> {
        let (name, ty, semantic) = (self.text()?, self.word()?, self.word()?);
        let mut ty = self.type_at(ty)?;
        let variable = EffectVariable {
            name,
            ty: std::mem::take(&mut ty.name),
            elements: ty.elements,
            semantic: if semantic == 0 { None } else { Some(self.text_at(semantic)?) },
            offset: None,
            register: None,
            annotations: Vec::new(),
        };
        Ok((variable, ty))
    }

    fn numeric(&mut self) -> Result<EffectVariable<'a>> {
        let (mut variable, _) = self.variable()?;
        variable.offset = Some(self.word()?);
        // The default value, and flags.
        self.skip(2, 4)?;
        variable.annotations = self.annotations()?;
        Ok(variable)
    }

    fn object(&mut self) -> Result<EffectVariable<'a>> {
        let (mut variable, ty) = self.variable()?;
        let register = self.word()?;
        variable.register = (register != u32::MAX).then_some(register);
        let elements = ty.elements.max(1);
        match ty.object.unwrap_or(0) {
            object::BLEND..=object::RASTERIZER | object::SAMPLER => {
                self.list(elements, |this| {
                    let count = this.word()?;
                    this.skip(count, 16)
                })?;
            }
            object::STRING => self.skip(elements, 4)?,
            object::PIXEL_SHADER..=object::GEOMETRY_SHADER => {
                self.list(elements, |this| {
                    let shader = this.word()?;
                    this.shader(variable.name.clone(), shader)
                })?;
            }
            object::GEOMETRY_SHADER_WITH_OUTPUT => {
                self.list(elements, |this| {
                    let shader = this.word()?;
                    this.skip(1, 4)?;
                    this.shader(variable.name.clone(), shader)
                })?;
            }
            object::PIXEL_SHADER_5..=object::DOMAIN_SHADER_5 => {
                self.list(elements, |this| {
                    let shader = this.word()?;
                    this.skip(8, 4)?;
                    this.shader(variable.name.clone(), shader)
                })?;
            }
            // Textures, buffers and views have no value.
            _ => {}
        }
        variable.annotations = self.annotations()?;
        Ok(variable)
    }

    fn interface(&mut self) -> Result<EffectVariable<'a>> {
        let (name, ty) = (self.text()?, self.word()?);
        let ty = self.type_at(ty)?;
        // The default value, and flags.
        self.skip(2, 4)?;
        Ok(EffectVariable {
            name,
            ty: ty.name,
            elements: ty.elements,
            semantic: None,
            offset: None,
            register: None,
            annotations: self.annotations()?,
        })
    }

    fn technique(&mut self) -> Result<EffectTechnique<'a>> {
        let (name, count) = (self.text()?, self.word()?);
        let annotations = self.annotations()?;
        Ok(EffectTechnique { name, annotations, passes: self.list(count, Self::pass)? })
    }

    fn pass(&mut self) -> Result<EffectPass<'a>> {
        let (name, count) = (self.text()?, self.word()?);
        let annotations = self.annotations()?;
        let assignments = self.list(count, |this| {
            let (state, index, kind) = (this.word()?, this.word()?, EffectAssignmentKind(this.word()?));
            let value = this.block.saturating_add(this.word()? as usize);
            // Both forms begin with the offset of the shader.
            if kind == EffectAssignmentKind::INLINE_SHADER || kind == EffectAssignmentKind::INLINE_SHADER_5 {
                let shader = this.part.u32_at(value)?;
                this.shader(name.clone(), shader)?;
            }
            Ok(EffectAssignment { state, index, kind, value })
        })?;
        Ok(EffectPass { name, annotations, assignments })
    }

    /// Notes a shader: its length, and a container. One of no bytes stands for none.
    fn shader(&mut self, owner: Cow<'a, str>, offset: u32) -> Result<()> {
        let at = self.block.saturating_add(offset as usize);
        let size = self.part.size_at(at)?;
        self.part.bytes_at(at + 4, size)?;
        if size > 0 {
            self.shaders.push(EffectShader { owner, offset: at + 4, size });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::{Container, FourCc};

    const PART: &[u8] = include_bytes!("../../tests/fixtures/container/effect.dxbc");
    const FILE: &[u8] = include_bytes!("../../tests/fixtures/container/effect_5.fxo");

    fn file(data: &[u8]) -> Part<'_> {
        Part { name: FourCc::FX10, offset: 0, data }
    }

    fn check(effect: &Effect<'_>, part: Part<'_>) {
        let contents = effect.contents.as_ref().unwrap();
        let names = |variables: &[EffectVariable<'_>]| {
            variables.iter().map(|variable| format!("{} {}", variable.ty, variable.name)).collect::<Vec<_>>()
        };
        let buffer = &contents.buffers[0];
        assert_eq!((&buffer.name[..], buffer.size, buffer.register), ("Constants", 96, None));
        assert_eq!(names(&buffer.variables), ["float4 tint", "float4x4 transform", "float factor"]);
        assert_eq!(buffer.variables[1].semantic.as_deref(), Some("WorldViewProjection"));
        assert_eq!(
            buffer.variables.iter().map(|variable| variable.offset).collect::<Vec<_>>(),
            [Some(0), Some(16), Some(80)]
        );
        let objects = names(&contents.objects);
        assert_eq!(objects[..3], ["Texture2D image", "SamplerState smooth", "BlendState blended"]);
        assert_eq!(contents.objects[0].annotations, ["source"]);
        let technique = &contents.groups[0].techniques[0];
        assert_eq!((&technique.name[..], &technique.annotations[..]), ("Draw", &[Cow::Borrowed("order")][..]));
        assert_eq!((&technique.passes[0].name[..], technique.passes[0].assignments.len()), ("Only", 5));
        assert_eq!(contents.shaders.len(), 2);
        for shader in &contents.shaders {
            assert_eq!(shader.owner, "Only");
            assert!(Container::parse(&part.data[shader.offset..shader.offset + shader.size]).is_ok());
        }
    }

    #[test]
    fn effects_of_both_releases() {
        let container = Container::parse(PART).unwrap();
        let part = container.part(FourCc::FX10).unwrap();
        let effect = Effect::parse(part).unwrap();
        assert_eq!((effect.version, effect.counts.inline_shaders), (EffectVersion::FX_4_0, 2));
        check(&effect, part);

        assert!(Effect::recognizes(FILE));
        let effect = Effect::parse(file(FILE)).unwrap();
        assert_eq!((effect.version, effect.counts.groups), (EffectVersion::FX_5_0, 1));
        check(&effect, file(FILE));
    }

    #[test]
    fn what_is_cut_short_is_an_error() {
        for len in 0..FILE.len() {
            assert!(Effect::parse(file(&FILE[..len])).is_err(), "{len} bytes");
        }
    }
}
