//! Comments behind instructions, as dxc writes them.

use super::{Listing, debug_info, names::one_line, resource};
use crate::{
    Result,
    dxil::{
        module::{Constant, FunctionId, Metadata, MetadataId, ValueDef, ValueId},
        op,
        reflect::HeapProperties as Properties,
    },
};

/// `dx.op.annotateHandle`.
const ANNOTATE_HANDLE: u32 = 216;

impl Listing<'_> {
    /// What follows a call: source of its variable, operation with its parameters.
    pub(super) fn call_comment(&mut self, number: u32, callee: FunctionId, arguments: &[ValueId]) -> Result<()> {
        let name = &self.module.functions[callee.index()].name;
        match name.as_str() {
            "llvm.dbg.declare" => return self.variable_comment(number, 1),
            "llvm.dbg.value" => return self.variable_comment(number, 2),
            _ => self.location_comment(number)?,
        }
        let Some(&first) = arguments.first() else { return Ok(()) };
        if !name.starts_with("dx.op.") || first == ValueId::NONE {
            return Ok(());
        }
        let opcode = match self.value_of(first)?.def {
            ValueDef::Constant(Constant::Integer(opcode)) => opcode as u32,
            ValueDef::Constant(Constant::Null) => 0,
            _ => return Ok(()),
        };
        let Some((operation, parameters)) = op::opcode(opcode).zip(op::parameters(opcode)) else {
            return self.write(format_args!("  ; invalid DXIL opcode #{opcode}"));
        };
        self.write(format_args!("  ; {}({parameters})", operation.name))?;
        if opcode == ANNOTATE_HANDLE
            && let Some(&properties) = arguments.get(2)
            && let Some(body) = self.body()
            && let Some(properties) = Properties::of(self.module, body, properties)
        {
            self.write(format_args!("  resource: {}", resource::spelled(properties)))?;
        }
        Ok(())
    }

    /// Line and column of an instruction.
    pub(super) fn location_comment(&mut self, number: u32) -> Result<()> {
        let location = self.body().and_then(|body| body.annotations.locations.get(&number));
        match location {
            Some(location) if location.scope.is_some() && location.line != 0 => {
                self.write(format_args!(" ; line:{} col:{}", location.line, location.column))
            }
            _ => Ok(()),
        }
    }

    /// The variable that a call describes: the argument of this position, its expression the next.
    fn variable_comment(&mut self, number: u32, position: u32) -> Result<()> {
        let Some(body) = self.body() else { return Ok(()) };
        let node = |position: u32, wanted: u32| {
            let id = body.annotations.arguments.get(&(number, position))?;
            match self.metadata_of(*id) {
                Ok(Metadata::Debug(code, operands)) if *code == wanted => Some(operands),
                _ => None,
            }
        };
        let variable = node(position, debug_info::LOCAL_VARIABLE);
        let expression = node(position + 1, debug_info::EXPRESSION);
        let Some((variable, expression)) = variable.zip(expression) else { return Ok(()) };
        let reference = |at: usize| debug_info::reference(variable.get(at).copied().unwrap_or(0));
        let name = self.string(reference(3)?)?.to_owned();
        let scope: Option<MetadataId> = reference(2)?;
        self.push(" ; var:\"");
        one_line(&mut self.text, &name);
        self.push("\" ");
        self.expression(expression)?;
        let function = scope.map(|scope| self.function_of_scope(scope)).transpose()?.flatten().map(str::to_owned);
        if let Some(function) = function {
            self.push(" func:\"");
            one_line(&mut self.text, &function);
            self.push("\"");
        }
        Ok(())
    }
}
