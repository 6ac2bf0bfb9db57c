//! Reads the blocks of LLVM bitcode into a [`Module`].

mod constants;
mod function;
mod metadata;
mod types;

use std::collections::VecDeque;

use super::{Function, FunctionId, Global, GlobalId, Module, Type, TypeId, Value, ValueDef, ValueId};
use crate::{
    Error, Result,
    dxil::bitcode::{Entry, Reader, Record},
};

/// Numbers of blocks (`LLVMBitCodes.h`, `bitc::BlockIDs`).
mod block {
    pub const MODULE: u32 = 8;
    pub const CONSTANTS: u32 = 11;
    pub const FUNCTION: u32 = 12;
    pub const VALUE_SYMBOL_TABLE: u32 = 14;
    pub const METADATA: u32 = 15;
    pub const METADATA_ATTACHMENT: u32 = 16;
    pub const TYPE: u32 = 17;
}

/// Codes of a module's records (`bitc::ModuleCodes`).
mod code {
    pub const VERSION: u32 = 1;
    pub const TRIPLE: u32 = 2;
    pub const GLOBALVAR: u32 = 7;
    pub const FUNCTION: u32 = 8;
    pub const ALIAS: u32 = 9;
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
    /// A body has been read: the module's values are complete.
    sealed: bool,
    /// Initializers by the ids that records gave.
    initializers: Vec<(GlobalId, u32)>,
}

impl Module {
    /// Reads LLVM bitcode.
    ///
    /// # Errors
    /// Names the record that contradicts the format, or that DXIL has no use for.
    pub fn read(bitcode: &[u8]) -> Result<Self> {
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
            initializers: Vec::new(),
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
                    block::METADATA => self.read_metadata()?,
                    block::VALUE_SYMBOL_TABLE => self.read_names()?,
                    block::FUNCTION => {
                        self.sealed = true;
                        let id = self.awaiting.pop_front();
                        let id = id.ok_or_else(|| self.record.malformed("body of no function"))?;
                        let body = self.read_body(id).map_err(|error| {
                            // Names come before bodies where there are names.
                            error.in_function(self.module.functions[id.index()].name.clone())
                        })?;
                        self.module.functions[id.index()].body = Some(body);
                    }
                    // Attributes say nothing that a lift needs; use lists order what it does not keep.
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

    /// `GLOBALVAR: [type, constant | explicit type << 1 | space << 2, initializer + 1, ...]`.
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
        self.module.globals.push(Global { name: String::new(), ty, space, constant, initializer: None });
        Ok(())
    }

    /// `FUNCTION: [type, calling convention, is a declaration, ...]`.
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
        self.module.functions.push(Function { name: String::new(), ty, body: None });
        Ok(())
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
