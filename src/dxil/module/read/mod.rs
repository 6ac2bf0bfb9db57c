//! Reads the blocks of LLVM bitcode into a [`Module`].

mod attributes;
mod constants;
mod function;
mod metadata;
mod types;

use std::collections::{HashMap, VecDeque};

use super::{
    Attribute, DllStorage, Function, FunctionId, Global, GlobalId, Linkage, Module, Symbol, Type, TypeId, Value,
    ValueDef, ValueId, Visibility,
};
use crate::{
    Error, Result,
    dxil::bitcode::{Entry, Reader, Record},
};

/// Numbers of blocks (`LLVMBitCodes.h`, `bitc::BlockIDs`).
mod block {
    pub const MODULE: u32 = 8;
    pub const ATTRIBUTES: u32 = 9;
    pub const ATTRIBUTE_GROUPS: u32 = 10;
    pub const CONSTANTS: u32 = 11;
    pub const FUNCTION: u32 = 12;
    pub const VALUE_SYMBOL_TABLE: u32 = 14;
    pub const METADATA: u32 = 15;
    pub const METADATA_ATTACHMENT: u32 = 16;
    pub const TYPE: u32 = 17;
    pub const USE_LIST: u32 = 18;
}

/// Codes of a module's records (`bitc::ModuleCodes`).
mod code {
    pub const VERSION: u32 = 1;
    pub const TRIPLE: u32 = 2;
    pub const DATA_LAYOUT: u32 = 3;
    pub const SECTION_NAME: u32 = 5;
    pub const GLOBALVAR: u32 = 7;
    pub const FUNCTION: u32 = 8;
    pub const ALIAS: u32 = 9;
}

/// Which bodies of functions are read. What has none is a declaration, as far as the [`Module`] tells.
#[derive(Clone, Copy)]
enum Bodies {
    All,
    None,
    /// All, if what the module has told when the first of them comes asks for it.
    If(fn(&Module) -> bool),
}

/// Reads one module.
struct ModuleReader<'a> {
    reader: Reader<'a>,
    record: Record,
    module: Module,
    /// Values are numbered back from the instruction that uses them (module version 1).
    relative: bool,
    /// Functions whose body has not come yet, in the order of the bodies.
    awaiting: VecDeque<FunctionId>,
    /// A body has been met: the module's values are complete.
    sealed: bool,
    /// Which bodies are read.
    bodies: Bodies,
    /// Initializers by the ids that records gave.
    initializers: Vec<(GlobalId, u32)>,
    /// Names of sections.
    sections: Vec<String>,
    /// Groups of attributes by the number that lists refer to: the index that they belong to, and the attributes.
    attribute_groups: HashMap<u32, (u32, Vec<Attribute>)>,
}

impl Module {
    /// Reads LLVM bitcode.
    ///
    /// # Errors
    /// Names the record that contradicts the format, or that DXIL has no use for.
    pub fn read(bitcode: &[u8]) -> Result<Self> {
        Self::read_parts(bitcode, Bodies::All)
    }

    /// Reads LLVM bitcode, but not the bodies of functions, which are most of it: they are all `None`.
    ///
    /// # Errors
    /// As for [`Module::read`], of what is read.
    pub fn read_without_bodies(bitcode: &[u8]) -> Result<Self> {
        Self::read_parts(bitcode, Bodies::None)
    }

    /// Reads LLVM bitcode, with the bodies of functions where `needed` says so of the module without them.
    ///
    /// # Errors
    /// As for [`Module::read`], of what is read.
    pub fn read_with_bodies_if(bitcode: &[u8], needed: fn(&Self) -> bool) -> Result<Self> {
        let module = Self::read_parts(bitcode, Bodies::If(needed))?;
        // LLVM writes all else before the first body; where something follows, that may be what asks for them.
        if module.functions.iter().all(|function| function.body.is_none()) && needed(&module) {
            return Self::read(bitcode);
        }
        Ok(module)
    }

    fn read_parts(bitcode: &[u8], bodies: Bodies) -> Result<Self> {
        let mut reader = Reader::new(bitcode)?;
        let mut record = Record::default();
        loop {
            match reader.next(&mut record)? {
                Entry::Block(block::MODULE) => break,
                Entry::Block(_) => reader.skip()?,
                Entry::Record => return Err(record.malformed("record outside of blocks")),
                Entry::End => return Err(record.malformed("no module block")),
            }
        }
        reader.enter()?;
        let mut this = ModuleReader {
            reader,
            record,
            module: Module::default(),
            relative: false,
            awaiting: VecDeque::new(),
            sealed: false,
            bodies,
            initializers: Vec::new(),
            sections: Vec::new(),
            attribute_groups: HashMap::new(),
        };
        this.read_module()?;
        Ok(this.module)
    }
}

impl ModuleReader<'_> {
    /// The next entry of the current block.
    fn next(&mut self) -> Result<Entry> {
        self.reader.next(&mut self.record)
    }

    fn read_module(&mut self) -> Result<()> {
        loop {
            match self.next()? {
                Entry::End => break,
                Entry::Block(id) => match id {
                    block::TYPE => self.read_types()?,
                    block::CONSTANTS => {
                        self.unsealed()?;
                        let constants = self.read_constants(self.module.values.len() as u32)?;
                        self.module.values.extend(constants);
                    }
                    block::METADATA => {
                        let metadata = self.read_metadata()?;
                        self.module.metadata.extend(metadata);
                    }
                    block::ATTRIBUTES => self.read_attributes()?,
                    block::ATTRIBUTE_GROUPS => self.read_attribute_groups()?,
                    block::VALUE_SYMBOL_TABLE => self.read_names()?,
                    block::FUNCTION => {
                        if let Bodies::If(needed) = self.bodies {
                            self.bodies = if needed(&self.module) { Bodies::All } else { Bodies::None };
                        }
                        self.sealed = true;
                        let id = self.awaiting.pop_front();
                        let id = id.ok_or_else(|| self.record.malformed("body of no function"))?;
                        if let Bodies::None = self.bodies {
                            self.reader.skip()?;
                            continue;
                        }
                        let body = self.read_body(id).map_err(|error| {
                            // Names come before bodies where there are names.
                            error.in_function(self.module.functions[id.index()].name.clone())
                        })?;
                        self.module.functions[id.index()].body = Some(body);
                    }
                    // Use lists order what the module does not keep.
                    _ => self.reader.skip()?,
                },
                Entry::Record => self.read_record()?,
            }
        }
        for (global, initializer) in std::mem::take(&mut self.initializers) {
            let id = ValueId(initializer);
            if self.module.constant(id).is_none() && self.module.values.get(id.index()).is_none() {
                return Err(Error::malformed(format!("initializer is no value: {initializer}")));
            }
            self.module.globals[global.index()].initializer = Some(id);
        }
        Ok(())
    }

    /// Rejects values of the module after function bodies, which number theirs from its last on.
    fn unsealed(&self) -> Result<()> {
        if self.sealed {
            return Err(self.record.malformed("value of the module after function bodies"));
        }
        Ok(())
    }

    fn read_record(&mut self) -> Result<()> {
        match self.record.code {
            code::VERSION => match self.record.operand(0)? {
                version @ (0 | 1) => self.relative = version == 1,
                version => return Err(Error::unsupported(format!("version of LLVM bitcode: {version}"))),
            },
            code::TRIPLE => self.module.triple = self.record.text(0),
            code::DATA_LAYOUT => self.module.data_layout = self.record.text(0),
            code::SECTION_NAME => self.sections.push(self.record.text(0)),
            code::GLOBALVAR => self.read_global()?,
            code::FUNCTION => self.read_function()?,
            code::ALIAS => {
                self.unsealed()?;
                let ty = self.type_operand(0)?;
                self.module.values.push(Value { ty, def: ValueDef::Alias });
            }
            _ => {}
        }
        Ok(())
    }

    /// `GLOBALVAR: [type, constant | explicit type << 1 | space << 2, initializer + 1, linkage, alignment, section,
    /// visibility, thread-local, unnamed address, externally initialized, DLL storage, comdat]`.
    fn read_global(&mut self) -> Result<()> {
        self.unsealed()?;
        let declared = self.type_operand(0)?;
        let flags = self.record.operand(1)?;
        let (ty, space) = if flags & 2 != 0 {
            (declared, (flags >> 2) as u32)
        } else {
            match self.module.types.get(declared) {
                Some(Type::Pointer { pointee, space }) => (*pointee, *space),
                _ => return Err(self.record.malformed("global variable is no pointer")),
            }
        };
        let id = GlobalId(self.module.globals.len() as u32);
        if let Some(initializer) = self.record.index(2)?.checked_sub(1) {
            self.initializers.push((id, initializer));
        }
        let pointer = self.module.types.intern(Type::Pointer { pointee: ty, space })?;
        self.module.values.push(Value { ty: pointer, def: ValueDef::Global(id) });
        let constant = flags & 1 != 0;
        let mut symbol = self.symbol(3, 4, 6, 8, 10)?;
        symbol.foreign = self.foreign(&[(7, "thread-local storage"), (11, "comdat")]);
        let externally_initialized = self.record.operands.get(9).is_some_and(|&flag| flag != 0);
        self.module.globals.push(Global {
            name: String::new(),
            ty,
            space,
            constant,
            initializer: None,
            symbol,
            externally_initialized,
        });
        Ok(())
    }

    /// `FUNCTION: [type, calling convention, is a declaration, linkage, attributes, alignment, section, visibility,
    /// garbage collector, unnamed address, prologue, DLL storage, comdat, prefix]`.
    fn read_function(&mut self) -> Result<()> {
        self.unsealed()?;
        let declared = self.type_operand(0)?;
        let ty = self.module.types.pointee(declared).unwrap_or(declared);
        if !matches!(self.module.types.get(ty), Some(Type::Function { .. })) {
            return Err(self.record.malformed("function is of no function type"));
        }
        let id = FunctionId(self.module.functions.len() as u32);
        if self.record.operand(2)? == 0 {
            self.awaiting.push_back(id);
        }
        let pointer = self.module.types.intern(Type::Pointer { pointee: ty, space: 0 })?;
        self.module.values.push(Value { ty: pointer, def: ValueDef::Function(id) });
        let mut symbol = self.symbol(3, 5, 7, 9, 11)?;
        symbol.foreign = self.foreign(&[
            (8, "garbage collector"),
            (10, "prologue"),
            (12, "comdat"),
            (13, "prefix"),
            (14, "personality"),
        ]);
        let convention = self.record.index(1)?;
        let attributes = self.record.operands.get(4).and_then(|&list| u32::try_from(list).ok()?.checked_sub(1));
        self.module.functions.push(Function { name: String::new(), ty, symbol, convention, attributes, body: None });
        Ok(())
    }

    /// What the record says for linkers, from the operands of these positions; that of the section follows the
    /// alignment. Older records are shorter.
    fn symbol(
        &self,
        linkage: usize,
        alignment: usize,
        visibility: usize,
        unnamed: usize,
        storage: usize,
    ) -> Result<Symbol> {
        let operand = |index: usize| self.record.operands.get(index).copied().unwrap_or(0);
        let linkage = Linkage::decode(operand(linkage));
        let section = match usize::try_from(operand(alignment + 1)) {
            Ok(0) => None,
            section => {
                let name = section.ok().and_then(|section| self.sections.get(section - 1)).cloned();
                Some(name.ok_or_else(|| self.record.malformed("unknown section"))?)
            }
        };
        Ok(Symbol {
            linkage,
            visibility: if linkage.is_local() { Visibility::Default } else { Visibility::decode(operand(visibility)) },
            storage: DllStorage::decode(operand(storage)),
            unnamed_address: operand(unnamed) != 0,
            alignment: self.alignment(operand(alignment))?,
            section,
            foreign: None,
        })
    }

    /// The first of these that the operand of its position says there is.
    fn foreign(&self, operands: &[(usize, &'static str)]) -> Option<&'static str> {
        let is_set = |index: &usize| self.record.operands.get(*index).is_some_and(|&operand| operand != 0);
        operands.iter().find(|(index, _)| is_set(index)).map(|(_, name)| *name)
    }

    /// An alignment in bytes from its logarithm plus 1; 0 if none is given.
    pub(super) fn alignment(&self, code: u64) -> Result<u32> {
        match code {
            // LLVM's greatest is 2^29.
            0..=30 => Ok((1 << code) >> 1),
            _ => Err(self.record.malformed("unknown alignment")),
        }
    }

    /// Names of the module's values: `ENTRY: [value, characters]`.
    fn read_names(&mut self) -> Result<()> {
        self.reader.enter()?;
        loop {
            match self.next()? {
                Entry::End => return Ok(()),
                Entry::Block(_) => self.reader.skip()?,
                Entry::Record if self.record.code == 1 => {
                    let id = self.record.index(0)?;
                    let name = self.record.text(1);
                    match self.module.values.get(id as usize).map(|value| &value.def) {
                        Some(ValueDef::Global(global)) => self.module.globals[global.index()].name = name,
                        Some(ValueDef::Function(function)) => self.module.functions[function.index()].name = name,
                        _ => {}
                    }
                }
                Entry::Record => {}
            }
        }
    }

    /// An operand of the record that is a type.
    fn type_operand(&self, index: usize) -> Result<TypeId> {
        let id = TypeId(self.record.index(index)?);
        match self.module.types.get(id) {
            Some(_) => Ok(id),
            None => Err(self.record.malformed("unknown type")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        container::{Bitcode, Container, FourCc},
        dxil::module::Operation,
    };

    const FUNCTIONS: &[u8] = include_bytes!("../../../../tests/fixtures/dxil/functions.dxil");

    fn bitcode() -> &'static [u8] {
        let container = Container::parse(FUNCTIONS).unwrap();
        Bitcode::parse(container.part(FourCc::DXIL).unwrap()).unwrap().bytes
    }

    #[test]
    fn functions_of_a_module() {
        let module = Module::read(bitcode()).unwrap();
        assert_eq!(module.triple, "dxil-ms-dx");
        let defined: Vec<_> = module.functions.iter().filter(|function| function.body.is_some()).collect();
        assert_eq!(defined.len(), 4);
        let main = defined.iter().find(|function| function.name == "main").unwrap();
        let body = main.body.as_ref().unwrap();
        assert_eq!(body.blocks.len(), 1);
        // The entry calls the function six times, and its value ids are those of calls that come earlier.
        let mixed = module.functions.iter().position(|function| function.name.contains("mixed")).unwrap();
        let calls = body
            .instructions
            .iter()
            .filter(|instruction| matches!(&instruction.op, Operation::Call { callee, .. } if callee.index() == mixed));
        assert_eq!(calls.count(), 6);
        let fast = body.instructions.iter().filter(|instruction| {
            matches!(
                instruction.op,
                Operation::Binary { op: crate::dxil::module::BinaryOperation::FAdd, fast: true, .. }
            )
        });
        assert_eq!(fast.count(), 2);
        let square = defined.iter().find(|function| function.name.contains("square")).unwrap();
        let square = square.body.as_ref().unwrap();
        let Operation::Binary { op, a, b, fast } = square.instructions[0].op else { panic!("no multiplication") };
        assert_eq!((op, a, fast), (crate::dxil::module::BinaryOperation::FMul, b, false));
        assert!(matches!(module.value(Some(square), a).unwrap().def, ValueDef::Argument(0)));
    }

    #[test]
    fn metadata_of_a_module() {
        let module = Module::read(bitcode()).unwrap();
        let model = module.named("dx.shaderModel").next().unwrap();
        assert_eq!((model.string(0), model.integer(1), model.integer(2)), (Some("cs"), Some(6), Some(0)));
        let entry = module.named("dx.entryPoints").next().unwrap();
        let function = entry.function(0).unwrap();
        assert_eq!(module.functions[function.index()].name, "main");
        assert!(!entry.has(2));
    }

    #[test]
    fn truncated_bitcode_is_an_error() {
        let bitcode = bitcode();
        for len in (0..bitcode.len()).step_by(4) {
            assert!(Module::read(&bitcode[..len]).is_err(), "{len} bytes");
        }
    }
}
