//! The modules of a container: the program, and its twin that keeps names for reflection.

use super::module::Module;
use crate::{
    Error, ErrorKind, Result,
    container::{Bitcode, Container, FourCc, ProgramHeader},
};

/// The program of a container and its header.
///
/// # Errors
/// [`ErrorKind::NotAProgram`] if there is no DXIL; else names the record that contradicts the format.
pub fn program<'a>(container: &Container<'a>) -> Result<(Bitcode<'a>, Module)> {
    match ProgramHeader::find(container)? {
        ProgramHeader::Bitcode(bitcode) => Ok((bitcode, read(&bitcode)?)),
        ProgramHeader::Tokens(_) => Err(Error::new(ErrorKind::NotAProgram, "the program is not DXIL")),
    }
}

/// The program of a container, with the bodies of its functions where `needed` says so of what it declares, and its header.
///
/// # Errors
/// As for [`program`].
pub fn program_with_bodies_if<'a>(
    container: &Container<'a>,
    needed: fn(&Module) -> bool,
) -> Result<(Bitcode<'a>, Module)> {
    match ProgramHeader::find(container)? {
        ProgramHeader::Bitcode(bitcode) => {
            let module = read_by(|bytes| Module::read_with_bodies_if(bytes, needed), &bitcode)?;
            Ok((bitcode, module))
        }
        ProgramHeader::Tokens(_) => Err(Error::new(ErrorKind::NotAProgram, "the program is not DXIL")),
    }
}

/// The module without code that dxc keeps for reflection (`STAT`), where there is one.
///
/// # Errors
/// Names the record that contradicts the format.
pub fn reflection(container: &Container<'_>) -> Result<Option<Module>> {
    Ok(reflection_program(container)?.map(|(_, module)| module))
}

/// [`reflection`], together with its header.
///
/// # Errors
/// As for [`reflection`].
pub fn reflection_program<'a>(container: &Container<'a>) -> Result<Option<(Bitcode<'a>, Module)>> {
    match container.part(FourCc::STAT) {
        // fxc's STAT holds statistics; it never stands beside DXIL, but files are what they are.
        Some(part) if part.data.get(8..12) == Some(&FourCc::DXIL.0[..]) => {
            let bitcode = Bitcode::parse(part)?;
            Ok(Some((bitcode, read_by(Module::read_without_bodies, &bitcode)?)))
        }
        _ => Ok(None),
    }
}

/// The copy of the program with debug information (`ILDB`), where there is one.
///
/// # Errors
/// Names the record that contradicts the format.
pub fn debug(container: &Container<'_>) -> Result<Option<Module>> {
    match container.part(FourCc::ILDB) {
        Some(part) => read(&Bitcode::parse(part)?).map(Some),
        None => Ok(None),
    }
}

/// What [`debug`] declares, without the bodies of its functions.
///
/// # Errors
/// As for [`debug`].
pub fn debug_declarations(container: &Container<'_>) -> Result<Option<Module>> {
    let part = container.part(FourCc::ILDB);
    part.map(|part| read_by(Module::read_without_bodies, &Bitcode::parse(part)?)).transpose()
}

/// The module of a program part; offsets in errors count from the part's beginning.
pub fn read(bitcode: &Bitcode<'_>) -> Result<Module> {
    read_by(Module::read, bitcode)
}

fn read_by(read: impl Fn(&[u8]) -> Result<Module>, bitcode: &Bitcode<'_>) -> Result<Module> {
    read(bitcode.bytes).map_err(|mut error| {
        error.place.offset = error.place.offset.map(|offset| offset + bitcode.offset);
        error.in_part(bitcode.part.name)
    })
}
