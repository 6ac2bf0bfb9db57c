//! DXBC: tokenized programs of Shader Model 4.0 to 5.1, to IR.
//!
//! * [`decode()`] reads tokens into typed declarations and instructions; nothing is interpreted there.
//! * [`declare()`] completes an [`Interface`] with what the declarations tell: with or without the reflection parts.
//! * [`lift()`] lowers the instructions: registers become SSA values, structured flow becomes blocks.
//!
//! The format is that of `d3d11TokenizedProgramFormat.hpp` (Windows SDK); what instructions mean is in the Direct3D
//! 11.3 functional specification, section 22.

mod assembler;
#[cfg(test)]
mod coverage;
pub mod declaration;
mod declare;
pub mod decode;
mod disassembly;
mod linkage;
mod lower;
#[cfg(test)]
mod measures;
pub mod opcode;
pub mod operand;
mod statement;
mod token;

pub use assembler::assemble;
#[cfg(test)]
pub(crate) use coverage::markdown as coverage_markdown;
pub use declare::{complete, declare};
pub use decode::{decode, decode_interface};
pub use disassembly::disassemble;
use linkage::Linkage;

use crate::{
    Error, ErrorKind, Result,
    container::{Container, FourCc, Part},
    ir,
    lift::{LiftOptions, Note, Program},
    reflection::{self, Interface},
};

/// The part that holds the tokens, and its program.
///
/// # Errors
/// [`ErrorKind::NotAProgram`](crate::ErrorKind::NotAProgram) if there is no such part.
fn program_part<'a>(container: &Container<'a>) -> Result<Part<'a>> {
    let part = container.part(FourCc(*b"SHEX")).or_else(|| container.part(FourCc(*b"SHDR")));
    part.ok_or_else(|| Error::new(ErrorKind::NotAProgram, "a container without tokens (SHEX or SHDR part)"))
}

/// Lowers the program of a container (`SHEX` or `SHDR` part), or the function of a library that `options` name.
/// `interface` is what [`crate::reflection::reflect`] read.
///
/// # Errors
/// Names the instruction that has no lowering, or the token that contradicts the format.
pub fn lift(container: &Container<'_>, mut interface: Interface, options: &LiftOptions) -> Result<Program> {
    if container.part(FourCc::LIBF).is_some() {
        let function = library_function(container, &interface, options)?;
        let interface = reflection::reflect(&function)?;
        return lift(&function, interface, options);
    }
    let part = program_part(container)?;
    let (ir, notes) = lift_part(part.data, &mut interface, options).map_err(|error| error.in_part(part.name))?;
    Ok(Program { ir, interface, notes })
}

/// The container of the function of a library that `options` name, or of its only one.
fn library_function<'a>(
    container: &Container<'a>,
    interface: &Interface,
    options: &LiftOptions,
) -> Result<Container<'a>> {
    let names: Vec<_> = interface.entry_points.iter().map(|entry| entry.name.as_str()).collect();
    let chosen = match &options.entry {
        Some(name) => names.iter().position(|other| other == name),
        None => (names.len() == 1).then_some(0),
    };
    let Some(chosen) = chosen else {
        let what = format!("the function of a library that is meant must be named: {}", names.join(", "));
        return Err(Error::new(ErrorKind::Mismatch, what));
    };
    let part = container.parts().filter(|part| part.name == FourCc::LIBF).nth(chosen);
    let part = part.ok_or_else(|| Error::internal("a function without a part"))?;
    let function = Container::parse(part.data).map_err(|error| error.in_part(part.name))?;
    if function.part(FourCc::LIBF).is_some() {
        return Err(Error::malformed("a library within a library").in_part(part.name));
    }
    Ok(function)
}

/// Lowers tokens. Resources of class instances that the program does not declare are added to `interface`.
fn lift_part(part: &[u8], interface: &mut Interface, options: &LiftOptions) -> Result<(ir::Module, Vec<Note>)> {
    let mut program = decode(part)?;
    let linkage = Linkage::new(&program, &interface.class_linkage, &options.classes)?;
    let undeclared = linkage.undeclared(&program)?;
    if !undeclared.is_empty() {
        program.phases[0].declarations.extend(undeclared);
        declare::complete(&program, interface);
    }
    let (ir, mut notes) = lower::lower(&program, interface, &linkage)?;
    let chosen = |name: &str| options.classes.keys().any(|key| key.split('[').next() == Some(name));
    for slots in interface.class_linkage.interfaces.iter().filter(|slots| !chosen(&slots.name)) {
        let class =
            slots.implementations.first().and_then(|first| interface.class_linkage.classes.get(first.class as usize));
        let class = class.map_or("?", |class| class.name.as_str());
        notes.push(Note::new(format!("interface {} is filled by its first class, {class}", slots.name)));
    }
    Ok((ir, notes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        lift,
        reflection::{ComponentType, Stage},
    };

    const FUNCTIONS: &[u8] = include_bytes!("../../tests/fixtures/linkage/functions.dxbc");

    fn function(name: &str) -> Result<Program> {
        lift(FUNCTIONS, &LiftOptions { entry: Some(name.into()), ..Default::default() })
    }

    #[test]
    fn functions_of_a_library_are_entry_points() {
        let interface = crate::reflect(FUNCTIONS).unwrap();
        let names: Vec<_> = interface.entry_points.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, ["tint", "turn", "sum"]);
        assert!(interface.entry_points.iter().all(|entry| entry.stage == Stage::Library));
        // Each function has registers of its own.
        let spaces: Vec<_> = interface.bindings.iter().map(|binding| binding.space).collect();
        assert_eq!(spaces, [0, 0, 0, 0, 2], "{:?}", interface.bindings);

        let tint = &interface.entry_points[0];
        let shape = |element: &crate::reflection::SignatureElement| {
            (element.semantic.clone(), element.register, element.mask, element.component)
        };
        let inputs: Vec<_> = tint.inputs.iter().map(shape).collect();
        assert_eq!(
            inputs,
            [
                ("color".into(), Some(0), 0xf, ComponentType::F32),
                ("amount".into(), Some(1), 1, ComponentType::F32),
                ("place".into(), Some(2), 3, ComponentType::F32),
            ]
        );
        let outputs: Vec<_> = tint.outputs.iter().map(shape).collect();
        assert_eq!(outputs[0].0, "tint", "the result has the function's name");
        assert_eq!((outputs[2].0.as_str(), outputs[2].3), ("count", ComponentType::U32));
        let turned = &interface.entry_points[1].inputs[0];
        assert_eq!((turned.semantic.as_str(), turned.rows, turned.mask), ("turned", 3, 7));
    }

    #[test]
    fn functions_of_a_library_lift_by_name() {
        for name in ["tint", "turn", "sum"] {
            let program = function(name).unwrap();
            assert_eq!(program.interface.entry_points.len(), 1);
            let module = program.module(&Default::default()).unwrap();
            assert!(module.functions.iter().any(|(_, function)| function.name.as_deref() == Some(name)));
        }
        assert_eq!(function("other").unwrap_err().kind, ErrorKind::Mismatch);
        let error = lift(FUNCTIONS, &LiftOptions::default()).unwrap_err();
        assert!(error.what.contains("tint, turn, sum"), "{error}");
    }
}
