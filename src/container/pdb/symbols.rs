//! Global variables of HLSL in fxc's PDB files: which registers they have.

use serde::{Deserialize, Serialize};

use super::Msf;
use crate::Result;

/// A resource that a shader declares, by its register.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceName {
    /// `t` for textures and buffers, `s` for samplers, `u` for unordered-access views.
    pub class: char,
    /// First register.
    pub register: u16,
    /// Name in the HLSL.
    pub name: String,
}

/// The stream with the general debug information (LLVM's "The PDB DBI Stream").
const DEBUG_INFORMATION: usize = 3;
/// Where its header has the number of the stream with the symbol records.
const SYMBOLS: usize = 20;
/// `S_GDATA_HLSL`.
const GLOBAL_VARIABLE: u16 = 0x1151;
/// No register.
const NONE: u16 = u16::MAX;

/// Reads the names of resources. It is nothing where the records are cut short: dxc leaves the streams empty.
///
/// A record begins with the length of what follows and its kind, two 16-bit words. That of a global variable
/// (`DATASYMHLSL` of Microsoft's `cvinfo.h`) goes on with its type, 32 bits, kind of register, and five 16-bit words: slot of
/// the constant buffer and offset in it, texture slot, sampler slot, slot of an unordered-access view; then its name.
pub(super) fn resources(file: &Msf<'_>) -> Result<Vec<ResourceName>> {
    let header = file.stream(DEBUG_INFORMATION)?;
    let Some(&number) = header.get(SYMBOLS..).and_then(|rest| rest.first_chunk::<2>()) else { return Ok(Vec::new()) };
    let records = file.stream(u16::from_le_bytes(number).into())?;
    let mut rest = &records[..];
    let mut names = Vec::new();
    while let Some((len, after)) = rest.split_first_chunk::<2>() {
        let Some((record, after)) = after.split_at_checked(u16::from_le_bytes(*len).into()) else { break };
        rest = after;
        let word = |offset: usize| record.get(offset..)?.first_chunk::<2>().map(|&bytes| u16::from_le_bytes(bytes));
        if word(0) != Some(GLOBAL_VARIABLE) {
            continue;
        }
        let slot = [('t', word(12)), ('s', word(14)), ('u', word(16))];
        let slot = slot.into_iter().find_map(|(class, slot)| Some((class, slot.filter(|&slot| slot != NONE)?)));
        let text = record.get(18..).and_then(|rest| rest.split(|&byte| byte == 0).next());
        if let (Some((class, register)), Some(text)) = (slot, text) {
            names.push(ResourceName { class, register, name: String::from_utf8_lossy(text).into_owned() });
        }
    }
    Ok(names)
}
