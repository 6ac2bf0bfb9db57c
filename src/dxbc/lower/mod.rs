//! From typed instructions to IR.
//!
//! * Each component of a register is a variable of its own of the SSA construction; the operations themselves stay as
//!   wide as the mask they write.
//! * A value has the type of the operation that gave it; who reads it as something else converts. Comparisons give
//!   `bool`, which becomes a mask of 32 bits only where it is read as a number.
//! * `mov` and its like copy values without giving them a type.

mod arithmetic;
mod double;
mod flow;
mod linkage;
mod memory;
mod registers;
pub(super) mod scan;
mod stage;
#[cfg(test)]
mod tests;
mod texture;
mod typing;

use std::collections::{HashMap, HashSet};

use super::{
    declaration::{Declaration, RegisterRange},
    decode::{Instruction, Phase, PhaseKind, TokenProgram},
    linkage::Linkage,
    opcode::Opcode,
};
use crate::{
    Error, Result,
    ir::{
        self, Block, Builder, Constant, EntryPoint, Function, FunctionId, Module, Scalar, SignatureKind, Terminator,
        Type, Value, ValueDef, Variable, VariableId, VariableSpace, ssa::SsaBuilder,
    },
    lift::Note,
    reflection::{EntryPointInterface, InstanceData, Interface, ResourceClass, Stage},
};

/// What an instruction is refused with that has no business where it stands.
const NO_LOWERING: &str = "no lowering";

/// Lowers a program. `interface` has been completed by its declarations; `linkage` fills its interfaces with classes.
///
/// # Errors
/// Names the instruction that has no lowering, or that contradicts the format.
pub fn lower(program: &TokenProgram, interface: &Interface, linkage: &Linkage) -> Result<(Module, Vec<Note>)> {
    let Some(entry) = interface.entry_points.first() else {
        return Err(Error::internal("an interface without an entry point"));
    };
    let mut lowering = ModuleLowering {
        interface,
        linkage,
        entry,
        module: Module::default(),
        ranges: HashMap::new(),
        shared: HashMap::new(),
        immediate: None,
        budget: expansion_budget(program),
        strict: !allows_refactoring(program),
        notes: Vec::new(),
    };
    let float_shared = scan::float_shared(program);
    for declared in program.declarations() {
        lowering.declare(&declared.declaration, &float_shared).map_err(|error| error.at_offset(declared.offset))?;
    }
    let mut main = None;
    let mut patch_constant_functions = Vec::new();
    for phase in &program.phases {
        for declared in &phase.declarations {
            if let Declaration::ImmediateConstantBuffer(rows) = &declared.declaration
                && !rows.is_empty()
            {
                lowering.declare_immediate(rows);
            }
        }
        match phase.kind {
            PhaseKind::Main if program.phases.len() == 1 => main = Some(lowering.function(phase, &entry.name, None)?),
            PhaseKind::Main | PhaseKind::Declarations => {}
            PhaseKind::ControlPoint => main = Some(lowering.function(phase, "control_point", None)?),
            PhaseKind::Fork | PhaseKind::Join => {
                let name = if phase.kind == PhaseKind::Fork { "fork" } else { "join" };
                for instance in 0..instances(phase)? {
                    let number = patch_constant_functions.len();
                    let function = lowering.function(phase, &format!("{name}{number}"), Some(instance))?;
                    patch_constant_functions.push(function);
                }
            }
        }
    }
    let function = match main {
        Some(function) => function,
        // Without a control point phase a hull shader passes its control points on.
        None => lowering.pass_through()?,
    };
    lowering.module.entry_points.push(EntryPoint { stage: program.stage, function, patch_constant_functions });
    Ok((lowering.module, lowering.notes))
}

/// How many instructions a program may become when it is expanded.
fn expansion_budget(program: &TokenProgram) -> usize {
    let instructions: usize = program.phases.iter().map(|phase| phase.instructions.len()).sum();
    instructions.saturating_mul(32).saturating_add(1 << 16)
}

/// `refactoringAllowed` of `dcl_globalFlags`: without it no result may be computed in another way than written. The
/// compiler has no flag for Shader Model 4, where nothing is said.
fn allows_refactoring(program: &TokenProgram) -> bool {
    // D3D10_SB_GLOBAL_FLAG_REFACTORING_ALLOWED, counted from bit 11.
    const REFACTORING_ALLOWED: u32 = 1;
    let flags = program.declarations().find_map(|declared| match declared.declaration {
        Declaration::GlobalFlags(flags) => Some(flags),
        _ => None,
    });
    flags.map_or(program.model.major < 5, |flags| flags & REFACTORING_ALLOWED != 0)
}

/// How often a phase runs. Each instance becomes a function, in which its number is a constant.
fn instances(phase: &Phase) -> Result<u32> {
    // D3D11_SB: at most 128 instances of fork and join phases.
    const MAX_INSTANCES: u32 = 128;
    let mut instances = 1;
    for declared in &phase.declarations {
        if let Declaration::PhaseInstanceCount(count) = declared.declaration {
            if count > MAX_INSTANCES {
                let what = format!("instances of a hull shader's phase: {count}");
                return Err(Error::malformed(what).at_offset(declared.offset));
            }
            instances = count;
        }
    }
    Ok(instances)
}

/// What the functions of a program share.
struct ModuleLowering<'a> {
    interface: &'a Interface,
    linkage: &'a Linkage,
    entry: &'a EntryPointInterface,
    module: Module,
    /// Declared resources, by class and the number that instructions name.
    ranges: HashMap<(ResourceClass, u32), RegisterRange>,
    /// Group-shared memory, by register.
    shared: HashMap<u32, GroupShared>,
    /// `icb`, from its declaration on: later phases of a hull shader read it too.
    immediate: Option<VariableId>,
    /// Instructions that may still be lowered: subroutines are expanded where they are called, and hull shader phases for
    /// each instance, but not without bounds.
    budget: usize,
    /// Every result is precise: the program does not allow refactoring.
    strict: bool,
    /// What was lowered so that it can be noticed.
    notes: Vec<Note>,
}

/// Group-shared memory of one register: an array of words.
#[derive(Clone, Copy)]
struct GroupShared {
    variable: VariableId,
    /// Bytes of an element, if it is structured.
    stride: Option<u32>,
    /// Type of its words.
    scalar: Scalar,
}

impl<'a> ModuleLowering<'a> {
    fn declare(&mut self, declaration: &Declaration, float_shared: &HashSet<u32>) -> Result<()> {
        let shared_scalar = |register| if float_shared.contains(&register) { Scalar::F32 } else { Scalar::I32 };
        let (class, range) = match *declaration {
            Declaration::Resource { range, .. }
            | Declaration::RawResource(range)
            | Declaration::StructuredResource { range, .. } => (ResourceClass::Srv, range),
            Declaration::Uav { range, .. }
            | Declaration::RawUav { range, .. }
            | Declaration::StructuredUav { range, .. } => (ResourceClass::Uav, range),
            Declaration::ConstantBuffer { range, .. } => (ResourceClass::Cbv, range),
            Declaration::Sampler { range, .. } => (ResourceClass::Sampler, range),
            Declaration::GroupSharedRaw { register, bytes } => {
                return self.declare_shared(register, bytes, None, shared_scalar(register));
            }
            Declaration::GroupSharedStructured { register, stride, count } => {
                let bytes = stride.saturating_mul(count);
                return self.declare_shared(register, bytes, Some(stride), shared_scalar(register));
            }
            _ => return Ok(()),
        };
        self.ranges.insert((class, range.id), range);
        Ok(())
    }

    fn declare_shared(&mut self, register: u32, bytes: u32, stride: Option<u32>, scalar: Scalar) -> Result<()> {
        // The limit of Shader Model 5 is 32 KiB; what is larger cannot be meant.
        const MAX_BYTES: u32 = 1 << 20;
        if bytes == 0 || bytes > MAX_BYTES || stride.is_some_and(|stride| stride % 4 != 0) {
            return Err(Error::malformed(format!("size or stride of group-shared memory: g{register}")));
        }
        let variable = self.variable(Variable {
            name: format!("g{register}"),
            space: VariableSpace::GroupShared,
            element: Type::Scalar(scalar),
            len: bytes.div_ceil(4),
            initial: None,
        });
        self.shared.insert(register, GroupShared { variable, stride, scalar });
        Ok(())
    }

    fn variable(&mut self, variable: Variable) -> VariableId {
        self.module.variables.push(variable);
        VariableId(self.module.variables.len() as u32 - 1)
    }

    fn note(&mut self, text: &str) {
        if !self.notes.iter().any(|note| note.text == text) {
            self.notes.push(Note::new(text));
        }
    }

    /// The variable of an immediate constant buffer.
    fn declare_immediate(&mut self, rows: &[[u32; 4]]) {
        let scalar = typing::rows_scalar(rows);
        let initial = rows.iter().map(|row| Constant(row.iter().map(|word| u64::from(*word)).collect())).collect();
        self.immediate = Some(self.variable(Variable {
            name: "icb".into(),
            space: VariableSpace::Constant,
            element: Type::new(scalar, 4),
            len: rows.len() as u32,
            initial: Some(initial),
        }));
    }

    /// Lowers a phase to a function.
    fn function(&mut self, phase: &'a Phase, name: &str, instance: Option<u32>) -> Result<FunctionId> {
        let output = match phase.kind {
            PhaseKind::Fork | PhaseKind::Join => SignatureKind::PatchConstant,
            _ => SignatureKind::Output,
        };
        let mut lowering = FunctionLowering::new(self, phase, name, output, instance);
        lowering.prepare()?;
        lowering.body()?;
        let FunctionLowering { mut function, mut ssa, .. } = lowering;
        ssa.seal(&mut function, Block(0));
        ssa.finish(&mut function);
        keep_precise_arithmetic(&mut function);
        self.module.functions.push(function);
        Ok(FunctionId(self.module.functions.len() as u32 - 1))
    }
}

/// Only float arithmetic can be more or less precise: what was made beside it needs no mark.
fn keep_precise_arithmetic(function: &mut Function) {
    for value in &mut function.values {
        let is_float = value.ty.scalar().is_some_and(Scalar::is_float);
        if let ValueDef::Inst(inst) = &mut value.def {
            let arithmetic =
                matches!(inst.op, ir::Op::Unary(..) | ir::Op::Binary(..) | ir::Op::Ternary(..) | ir::Op::Dot(..));
            inst.precise &= is_float && arithmetic;
        }
    }
}

/// A component of a register, as a variable of the SSA construction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Register {
    /// `r#`, component.
    Temp(u32, u8),
    /// `o#`, component.
    Output(u32, u8),
    /// An output without a number.
    Special(super::operand::RegisterFile),
}

/// What one function's lowering knows.
struct FunctionLowering<'m, 'a> {
    module: &'m mut ModuleLowering<'a>,
    phase: &'a Phase,
    function: Function,
    ssa: SsaBuilder<Register>,
    /// Where instructions go; `None` where nothing gets to.
    block: Option<Block>,
    /// The instruction that is being lowered, by its position in the phase.
    current: usize,
    /// Nested control flow.
    constructs: Vec<flow::Construct>,
    /// What the phase uses, found before it is lowered.
    scan: scan::Scan,
    /// `x#`, by register.
    indexable: HashMap<u32, IndexableTemp>,
    /// Inputs and outputs that are addressed by relative indices.
    indexed_inputs: Vec<IndexedRegisters>,
    indexed_outputs: Vec<IndexedRegisters>,
    /// Signature that `o#` belongs to.
    output: SignatureKind,
    /// Number of the hull shader phase's instance.
    instance: Option<u32>,
    /// Data of the class instances whose methods are being expanded, innermost last.
    this: Vec<InstanceData>,
}

/// Elements of `x#`.
#[derive(Clone, Copy)]
struct IndexableTemp {
    variable: VariableId,
    components: u8,
    scalar: Scalar,
}

/// Inputs or outputs in consecutive registers that are kept in a variable, so that they can be indexed.
#[derive(Clone, Copy)]
struct IndexedRegisters {
    first: u32,
    count: u32,
    variable: VariableId,
    scalar: Scalar,
}

impl<'m, 'a> FunctionLowering<'m, 'a> {
    fn new(
        module: &'m mut ModuleLowering<'a>,
        phase: &'a Phase,
        name: &str,
        output: SignatureKind,
        instance: Option<u32>,
    ) -> Self {
        let function = Function::new(name, Type::Void);
        let block = Some(function.entry);
        Self {
            module,
            phase,
            function,
            ssa: SsaBuilder::default(),
            block,
            current: 0,
            constructs: Vec::new(),
            scan: scan::Scan::default(),
            indexable: HashMap::new(),
            indexed_inputs: Vec::new(),
            indexed_outputs: Vec::new(),
            output,
            instance,
            this: Vec::new(),
        }
    }

    /// Makes the phase's variables.
    fn prepare(&mut self) -> Result<()> {
        self.ssa.seal(&mut self.function, Block(0));
        self.scan = scan::Scan::new(self.phase)?;
        for declared in &self.phase.declarations {
            let Declaration::IndexableTemp { register, count, components } = declared.declaration else { continue };
            // The limit of Shader Model 5 is 4096 registers in all.
            if count == 0 || count > 1 << 16 {
                let what = format!("size of an indexable temporary: x{register}[{count}]");
                return Err(Error::malformed(what).at_offset(declared.offset));
            }
            let scalar = self.scan.indexable_scalar(register);
            let variable = self.module.variable(Variable {
                name: format!("x{register}"),
                space: VariableSpace::Thread,
                element: Type::new(scalar, components),
                len: count,
                initial: None,
            });
            self.indexable.insert(register, IndexableTemp { variable, components, scalar });
        }
        self.prepare_indexed()
    }

    fn instruction(&self) -> &'a Instruction {
        &self.phase.instructions[self.current]
    }

    /// A builder at the place where instructions go.
    fn build(&mut self) -> Builder<'_> {
        let (precise, origin) = match self.phase.instructions.get(self.current) {
            Some(instruction) => (self.module.strict || instruction.precise_mask() != 0, instruction.number),
            None => (false, self.phase.instructions.last().map_or(0, |last| last.number)),
        };
        // Code that is never reached is not lowered, so that there is always a block; what a fault in that rule would
        // append to the entry block does not pass the verifier.
        let block = self.block.unwrap_or(self.function.entry);
        let mut builder = Builder::new(&mut self.function, block);
        builder.precise = precise;
        builder.origin = origin;
        builder
    }

    /// Appends an instruction.
    fn push(&mut self, op: ir::Op, ty: Type) -> Value {
        self.build().push(op, ty)
    }

    fn i32(&mut self, value: u32) -> Value {
        self.function.i32(value)
    }

    /// Ends the function here.
    fn leave(&mut self) -> Result<()> {
        // A geometry shader's outputs count when they are emitted, and patch constants were handed over at once.
        if self.module.entry.stage != Stage::Geometry && self.output == SignatureKind::Output {
            self.store_outputs()?;
        }
        self.build().terminate(Terminator::Return(None));
        self.block = None;
        Ok(())
    }

    /// Lowers one instruction that is no control flow.
    fn lower(&mut self) -> Result<()> {
        let instruction = self.instruction();
        let handled = self.arithmetic(instruction)?
            || self.double(instruction)?
            || self.texture(instruction)?
            || self.memory(instruction)?
            || self.stage(instruction)?;
        if !handled {
            return Err(instruction.unsupported(NO_LOWERING));
        }
        Ok(())
    }
}
