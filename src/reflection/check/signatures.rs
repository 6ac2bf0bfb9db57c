//! Signature parts against the program's own declarations.

use super::Checker;
use crate::{
    Result,
    container::{Container, FourCc},
    reflection::{
        ComponentType, EntryPointInterface, Format, Interface, MinPrecision, SignatureElement, SystemValue,
        read::signatures,
    },
};

/// The parts that hold a signature, the first that is there.
const INPUTS: &[FourCc] = &[FourCc::ISG1, FourCc::ISGN];
const OUTPUTS: &[FourCc] = &[FourCc::OSG1, FourCc::OSG5, FourCc::OSGN];
const PATCH_CONSTANTS: &[FourCc] = &[FourCc::PSG1, FourCc::PCSG];

impl Checker {
    pub(super) fn signatures(&mut self, container: &Container<'_>, declared: &Interface) -> Result<()> {
        let [entry] = &declared.entry_points[..] else { return Ok(()) };
        let stored = signatures::read(container, entry.stage)?;
        for (what, names, declared_elements, stored) in [
            ("input", INPUTS, &entry.inputs, stored.inputs),
            ("output", OUTPUTS, &entry.outputs, stored.outputs),
            ("patch constant", PATCH_CONSTANTS, &entry.patch_constants, stored.patch_constants),
        ] {
            let Some(part) = container.first_part(names).filter(|part| !part.data.is_empty()) else { continue };
            match declared.format {
                Format::Dxil => self.records(part.name, what, declared_elements, &stored),
                Format::Dxbc => self.declarations(part.name, what, entry, declared_elements, &stored),
            }
        }
        Ok(())
    }

    /// Metadata has the same elements, several rows in one.
    fn records(&mut self, part: FourCc, what: &str, declared: &[SignatureElement], stored: &[SignatureElement]) {
        let rows = declared.iter().flat_map(|element| {
            let registers = (0..).map(move |row| element.register.and_then(|first| first.checked_add(row)));
            element.semantic_indices.iter().zip(registers).map(move |(&index, register)| (element, index, register))
        });
        let rows = rows.collect::<Vec<_>>();
        self.compare(part, format!("number of {what}s"), rows.len(), stored.len());
        for (element, index, register) in rows {
            let name = format!("{what} {}{index}", element.semantic);
            let is_same = |stored: &&SignatureElement| {
                stored.semantic.eq_ignore_ascii_case(&element.semantic)
                    && stored.semantic_indices == [index]
                    && stored.stream == element.stream
            };
            let Some(stored) = stored.iter().find(is_same) else {
                self.compare(part, name, "it is there", "it is not");
                continue;
            };
            self.compare(part, format!("register of {name}"), register, stored.register);
            // Older validators leave the type of booleans unknown.
            let known = Some(component(stored)).filter(|&it| it != ComponentType::Unknown);
            self.compare_known(part, format!("component type of {name}"), Some(component(element)), known);
            self.compare(part, format!("precision of {name}"), element.min_precision, stored.min_precision);
            // Without a register the mask has no place.
            if register.is_some() {
                self.compare(part, format!("components of {name}"), element.mask, stored.mask);
            }
            // `D3D_NAME` has no number for many of DXIL's kinds.
            if stored.system_value != SystemValue::Arbitrary {
                self.compare(part, format!("meaning of {name}"), element.system_value, stored.system_value);
            }
        }
    }

    /// Tokens declare the registers that are used, and call some of them by a system value.
    fn declarations(
        &mut self,
        part: FourCc,
        what: &str,
        entry: &EntryPointInterface,
        declared: &[SignatureElement],
        stored: &[SignatureElement],
    ) {
        for element in declared {
            let Some(register) = element.register else { continue };
            let name = format!("{what} register {register}");
            let covering = stored.iter().filter(|stored| {
                stored.register == Some(register) && stored.stream == element.stream && stored.mask & element.mask != 0
            });
            let covering = covering.collect::<Vec<_>>();
            let mask = covering.iter().fold(0, |mask, stored| mask | stored.mask);
            self.compare(part, format!("components of {name}"), element.mask, element.mask & mask);
            let [stored] = covering[..] else { continue };
            let is_known = |value: SystemValue| value != SystemValue::Arbitrary;
            if is_known(element.system_value) && is_known(stored.system_value) {
                let fact = format!("meaning of {name} ({:?})", entry.stage);
                self.compare(part, fact, element.system_value, stored.system_value);
            }
        }
    }
}

/// Type of a component as a register holds it: there are no booleans in the parts, and a type of minimum precision is in
/// some by its least width, in some by that of the register.
fn component(element: &SignatureElement) -> ComponentType {
    match (element.component, element.min_precision) {
        (ComponentType::Bool, _) => ComponentType::U32,
        (component, MinPrecision::Default) => component,
        (ComponentType::F16, _) => ComponentType::F32,
        (ComponentType::I16, _) => ComponentType::I32,
        (ComponentType::U16, _) => ComponentType::U32,
        (component, _) => component,
    }
}
