//! Class linkage: which function table and which data each interface slot of a program has.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{
    declaration::{self, Declaration, RegisterRange},
    decode::{Declared, Instruction, Phase, TokenProgram},
    lower::scan::{Label, Scan},
    opcode::Opcode,
    operand::{Operand, RegisterFile},
};
use crate::{
    Error, ErrorKind, Result,
    lift::ClassChoice,
    reflection::{ClassLinkage, Implementation, InstanceData, InterfaceSlots, ResourceClass, SamplerMode},
};

/// `D3D11_SHADER_MAX_INTERFACES`.
const MAX_SLOTS: u32 = 253;

/// What fills a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Filled {
    /// Number of the function table.
    pub table: u32,
    /// What `this[]` holds.
    pub data: InstanceData,
}

/// The interfaces of a program, filled.
#[derive(Default)]
pub struct Linkage {
    /// By slot.
    slots: BTreeMap<u32, Filled>,
    /// Number of slots, by interface.
    interfaces: HashMap<u32, u32>,
    /// Numbers of function bodies, by table.
    tables: HashMap<u32, Vec<u32>>,
}

impl Linkage {
    /// Fills the interfaces that a program declares, as `choices` says for names of `linkage`.
    ///
    /// # Errors
    /// A choice is none of those that the interface has, or the declarations contradict each other.
    pub fn new(
        program: &TokenProgram,
        linkage: &ClassLinkage,
        choices: &BTreeMap<String, ClassChoice>,
    ) -> Result<Self> {
        let mut filled = Self::default();
        for declared in program.declarations() {
            match &declared.declaration {
                Declaration::FunctionTable { table, bodies } => {
                    filled.tables.insert(*table, bodies.clone());
                }
                Declaration::Interface { interface, elements, .. } => {
                    let end = interface.checked_add(*elements).filter(|end| *elements > 0 && *end <= MAX_SLOTS);
                    let Some(end) = end else {
                        let what = format!("slots of dcl_interface: {interface}, {elements}");
                        return Err(Error::malformed(what).at_offset(declared.offset));
                    };
                    let Some(slots) = linkage.interfaces.iter().find(|slots| slots.slot == *interface) else {
                        return Err(Error::internal(format!("an interface that was not declared: fp{interface}")));
                    };
                    filled.interfaces.insert(*interface, *elements);
                    for slot in *interface..end {
                        let element = format!("{}[{}]", slots.name, slot - interface);
                        let choice = choices.get(&element).or_else(|| choices.get(&slots.name));
                        filled.slots.insert(slot, fill(linkage, slots, choice)?);
                    }
                }
                _ => {}
            }
        }
        Ok(filled)
    }

    /// Number of slots of an interface, if it is declared.
    pub fn elements(&self, interface: u32) -> Option<u32> {
        self.interfaces.get(&interface).copied()
    }

    /// What fills a slot.
    pub fn slot(&self, slot: u32) -> Option<Filled> {
        self.slots.get(&slot).copied()
    }

    /// The method that an `fcall` calls where `filled` fills the interface.
    pub fn method(&self, filled: Filled, instruction: &Instruction) -> Option<Label> {
        let body = *self.tables.get(&filled.table)?.get(instruction.function as usize)?;
        Some((RegisterFile::FunctionBody, body))
    }

    /// Declarations of the resources that class instances bring along: the program reads them at registers that only
    /// `this[]` names, and declares them only where it has the instances itself.
    ///
    /// # Errors
    /// An instruction contradicts the format.
    pub fn undeclared(&self, program: &TokenProgram) -> Result<Vec<Declared>> {
        if self.interfaces.is_empty() {
            return Ok(Vec::new());
        }
        let known = program.declarations().filter_map(|declared| resource(&declared.declaration)).collect();
        let mut search = Search { linkage: self, known, seen: HashSet::new(), found: Vec::new() };
        for phase in &program.phases {
            let scan = Scan::new(phase)?;
            search.seen.clear();
            search.body(phase, &scan, 0..scan.main_end(), None, 0)?;
        }
        Ok(search.found)
    }
}

/// What fills one slot of an interface.
fn fill(linkage: &ClassLinkage, interface: &InterfaceSlots, choice: Option<&ClassChoice>) -> Result<Filled> {
    let class_name = |implementation: &Implementation| {
        linkage.classes.get(implementation.class as usize).map_or("?", |class| class.name.as_str())
    };
    let implementation =
        |class: u32| interface.implementations.iter().find(|implementation| implementation.class == class);
    let named = |name: &str| interface.implementations.iter().find(|implementation| class_name(implementation) == name);
    let mismatch = |what: &str, name: &str| {
        let classes: Vec<_> = interface.implementations.iter().map(class_name).collect();
        let what = format!("{what}: {name} for {}, which takes {}", interface.name, classes.join(", "));
        Error::new(ErrorKind::Mismatch, what)
    };
    // The data of a class's first instance; none if it has no instances, or no data.
    let first = |class: u32| linkage.instances.iter().find(|instance| instance.class == class);
    let (found, data) = match choice {
        None => {
            let found = interface.implementations.first();
            let found =
                found.ok_or_else(|| Error::malformed(format!("no class fills an interface: {}", interface.name)))?;
            (found, first(found.class).map(|instance| instance.data).unwrap_or_default())
        }
        Some(ClassChoice::Named { name, index }) => {
            let (found, instance) = match linkage.instances.iter().find(|instance| instance.name == *name) {
                Some(instance) => {
                    let found = implementation(instance.class);
                    (found.ok_or_else(|| mismatch("an instance of another interface's class", name))?, Some(instance))
                }
                None => {
                    let found = named(name).ok_or_else(|| mismatch("no class and no instance of the name", name))?;
                    (found, first(found.class))
                }
            };
            let mut data = instance.map(|instance| instance.data).unwrap_or_default();
            if let Some(class) = linkage.classes.get(found.class as usize) {
                data.row = data.row.wrapping_add(index.wrapping_mul(class.rows));
                data.texture = data.texture.wrapping_add(index.wrapping_mul(class.textures));
                data.sampler = data.sampler.wrapping_add(index.wrapping_mul(class.samplers));
            }
            (found, data)
        }
        Some(ClassChoice::Created { class, data }) => {
            (named(class).ok_or_else(|| mismatch("no class of the name", class))?, *data)
        }
    };
    Ok(Filled { table: found.table, data })
}

/// The register of a resource's declaration, which is not Shader Model 5.1's: that has no interfaces.
fn resource(declaration: &Declaration) -> Option<(ResourceClass, u32)> {
    Some(match declaration {
        Declaration::Resource { range, .. }
        | Declaration::RawResource(range)
        | Declaration::StructuredResource { range, .. } => (ResourceClass::Srv, range.id),
        Declaration::ConstantBuffer { range, .. } => (ResourceClass::Cbv, range.id),
        Declaration::Sampler { range, .. } => (ResourceClass::Sampler, range.id),
        _ => return None,
    })
}

/// The register that an operand of a class's method names: its own number from where the instance's resources begin.
pub fn register_of(file: RegisterFile, base: u32, data: &InstanceData) -> Option<(ResourceClass, u32)> {
    let (class, first) = match file {
        RegisterFile::ConstantBuffer => (ResourceClass::Cbv, data.constant_buffer),
        RegisterFile::Resource => (ResourceClass::Srv, data.texture),
        RegisterFile::Sampler => (ResourceClass::Sampler, data.sampler),
        _ => return None,
    };
    Some((class, first.wrapping_add(base)))
}

/// Search for resources without a declaration.
struct Search<'a> {
    linkage: &'a Linkage,
    known: HashSet<(ResourceClass, u32)>,
    /// Methods of the phase that have been looked at, with their data.
    seen: HashSet<(Label, InstanceData)>,
    found: Vec<Declared>,
}

/// Methods call methods of other interfaces: as deep as calls may nest.
const MAX_DEPTH: usize = 32;

impl Search<'_> {
    fn body(
        &mut self,
        phase: &Phase,
        scan: &Scan,
        range: std::ops::Range<usize>,
        this: Option<InstanceData>,
        depth: usize,
    ) -> Result<()> {
        for instruction in phase.instructions.get(range).unwrap_or_default() {
            for operand in &instruction.operands {
                if let Some(data) = &this {
                    self.operand(instruction, operand, data)?;
                }
            }
            if instruction.opcode != Opcode::InterfaceCall || depth >= MAX_DEPTH {
                continue;
            }
            let Some(interface) = instruction.operands.first().and_then(Operand::register) else { continue };
            for slot in interface..interface + self.linkage.elements(interface).unwrap_or(0) {
                let Some(filled) = self.linkage.slot(slot) else { continue };
                let Some(label) = self.linkage.method(filled, instruction) else { continue };
                let Some(range) = scan.subroutine(label) else { continue };
                if self.seen.insert((label, filled.data)) {
                    self.body(phase, scan, range, Some(filled.data), depth + 1)?;
                }
            }
        }
        Ok(())
    }

    fn operand(&mut self, instruction: &Instruction, operand: &Operand, data: &InstanceData) -> Result<()> {
        let Some(index) = operand.indices.first().filter(|index| index.relative.is_some()) else { return Ok(()) };
        let Some((class, register)) = register_of(operand.file, index.base, data) else { return Ok(()) };
        if !self.known.insert((class, register)) {
            return Ok(());
        }
        let range = RegisterRange { id: register, space: 0, register, count: Some(1) };
        let declaration = match class {
            ResourceClass::Cbv => Declaration::ConstantBuffer { range, rows: 0 },
            ResourceClass::Sampler => {
                use Opcode::*;
                let compares = matches!(instruction.opcode, SampleC | SampleCLz | Gather4C | Gather4PoC);
                let mode = if compares { SamplerMode::Comparison } else { SamplerMode::Default };
                Declaration::Sampler { range, mode }
            }
            _ => {
                let Some((dimension, returned)) = instruction.resource else {
                    return Err(instruction.malformed("a class instance's resource of unknown shape"));
                };
                let shape = declaration::shape(dimension).map_err(|error| instruction.place(error))?;
                let component = declaration::component_type(returned);
                Declaration::Resource { range, shape, samples: 0, component }
            }
        };
        self.found.push(Declared { offset: instruction.offset, declaration });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        LiftOptions,
        container::{Container, ContainerWriter, FourCc},
        lift,
    };

    const CLASSES: &[u8] = include_bytes!("../../tests/fixtures/linkage/classes.dxbc");

    fn lifted(bytes: &[u8], choices: &[(&str, &str)]) -> Result<String> {
        let choices = choices.iter().map(|(interface, choice)| Ok((interface.to_string(), choice.parse()?)));
        let options = LiftOptions { classes: choices.collect::<Result<_>>()?, ..Default::default() };
        let program = lift(bytes, &options)?;
        Ok(program.ir.display(&program.interface).to_string())
    }

    #[test]
    fn wrong_choices_are_errors() {
        for (interface, choice, told) in [
            ("curve", "Circle", "no class and no instance of the name"),
            ("curve", "flat", "an instance of another interface's class"),
            ("curve", "Flat(cb0[0])", "no class of the name"),
            ("curves", "Line", "an interface that the program lacks"),
            ("several[4]", "flat", "an interface that the program lacks"),
            ("curve[0", "Line", "an interface that the program lacks"),
        ] {
            let error = lifted(CLASSES, &[(interface, choice)]).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Mismatch, "{error}");
            assert!(error.what.contains(told), "{error}");
        }
    }

    #[test]
    fn what_is_filled_alike_is_one_call() {
        // All slots of the array have one class and one instance: the index is not needed.
        let same = lifted(CLASSES, &[("several", "flat")]).unwrap();
        assert!(!same.contains("switch"), "{same}");
        let other = lifted(CLASSES, &[("several", "flat"), ("several[3]", "many[1]")]).unwrap();
        assert!(other.contains("switch"), "{other}");
    }

    #[test]
    fn interfaces_without_reflection_are_numbered() {
        let container = Container::parse(CLASSES).unwrap();
        let mut writer = ContainerWriter::from_container(&container);
        assert_eq!(writer.remove(FourCc::RDEF) + writer.remove(FourCc::IFCE), 2);
        let stripped = writer.write().unwrap();
        // What an instance holds is not known any more: the host must say.
        let choices = [("fp0", "ft1(cb3[6])"), ("fp1", "ft3(cb3[1])"), ("fp5", "ft5(cb3[8])")];
        let known = [("first", "many[2]"), ("several", "flat"), ("curve", "lines[1]")];
        let names = |text: String| text.lines().filter(|line| !line.contains("handle")).collect::<Vec<_>>().join("\n");
        assert_eq!(names(lifted(&stripped, &choices).unwrap()), names(lifted(CLASSES, &known).unwrap()));
    }
}
