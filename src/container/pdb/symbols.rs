//! Global variables of HLSL in fxc's PDB files: which registers they have.

use serde::{Deserialize, Serialize};

use super::{Msf, types::Cursor};
use crate::Result;

/// A resource that a shader declares, by its register.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceName {
    /// `t` for textures and buffers, `s` for samplers, `u` for unordered-access views.
    pub class: char,
    /// Register space, 0 before Shader Model 5.1.
    pub space: u32,
    /// First register.
    pub register: u32,
    /// Name in the HLSL.
    pub name: String,
}

/// A variable in a constant buffer that the program reads. The buffer's own name is not recorded; a `ConstantBuffer<T>` is a
/// variable at its beginning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConstantName {
    /// Register space of the buffer, 0 before Shader Model 5.1.
    pub space: u32,
    /// Register of the buffer.
    pub register: u32,
    /// Bytes from the buffer's beginning.
    pub offset: u32,
    /// Name in the HLSL.
    pub name: String,
    /// Index of its type in [`DebugTypes`](super::DebugTypes).
    pub ty: u32,
}

/// The stream with the general debug information (LLVM's "The PDB DBI Stream").
const DEBUG_INFORMATION: usize = 3;
/// Where its header has the number of the stream with the symbol records.
const SYMBOLS: usize = 20;

/// Reads the names of resources and constants. They are nothing where the records are cut short: dxc leaves the streams
/// empty.
///
/// A record begins with the length of what follows and its kind, two 16-bit words.
pub(super) fn read(file: &Msf<'_>) -> Result<(Vec<ResourceName>, Vec<ConstantName>)> {
    let (mut resources, mut constants) = (Vec::new(), Vec::new());
    let header = file.stream(DEBUG_INFORMATION)?;
    let Some(&number) = header.get(SYMBOLS..).and_then(|rest| rest.first_chunk::<2>()) else {
        return Ok((resources, constants));
    };
    let records = file.stream(u16::from_le_bytes(number).into())?;
    let mut rest = Cursor(&records);
    while let Some(len) = rest.u16()
        && let Some(record) = rest.take(len.into())
    {
        let Some(Symbol { ty, class, space, register, offset, name }) = symbol(Cursor(record)) else { continue };
        match class {
            'b' => constants.push(ConstantName { space, register, offset, name, ty }),
            class => resources.push(ResourceName { class, space, register, name }),
        }
    }
    Ok((resources, constants))
}

struct Symbol {
    ty: u32,
    class: char,
    space: u32,
    register: u32,
    offset: u32,
    name: String,
}

/// A variable with a register (`DATASYMHLSL`, `DATASYMHLSL32` and `DATASYMHLSL32_EX` of Microsoft's `cvinfo.h`), global or
/// local to the file: all begin with its type. The first two have a slot for each class of registers.
fn symbol(mut rest: Cursor<'_>) -> Option<Symbol> {
    let kind = rest.u16()?;
    let [ty] = rest.words()?;
    // Slots, in this order: constant buffer, texture, sampler, unordered-access view.
    let (class, space, offset, slots) = match kind {
        0x1151 | 0x1152 => {
            let class = rest.u16()?;
            let [buffer, offset] = [rest.u16()?, rest.u16()?];
            let slots = [buffer, rest.u16()?, rest.u16()?, rest.u16()?];
            (class, 0, offset.into(), slots.map(u32::from))
        }
        0x1162 | 0x1163 => {
            let [buffer, offset, texture, sampler, view] = rest.words()?;
            (rest.u16()?, 0, offset, [buffer, texture, sampler, view])
        }
        0x1164 | 0x1165 => {
            let [_, offset, space, register] = rest.words()?;
            (rest.u16()?, space, offset, [register; 4])
        }
        _ => return None,
    };
    // `CV_HLSLREG_e`.
    let (class, register) = match class {
        8 => ('b', slots[0]),
        7 => ('t', slots[1]),
        6 => ('s', slots[2]),
        30 => ('u', slots[3]),
        _ => return None,
    };
    Some(Symbol { ty, class, space, register, offset, name: rest.text()? })
}
