//! Class linkage, from `IFCE` and the interface pointers that `RDEF` names.

use crate::{
    Error, Result,
    container::{Container, FourCc, Interfaces, ResourceDefinitions},
    reflection::{ClassInstance, ClassLinkage, ClassType, Implementation, InstanceData, InterfaceSlots},
};

/// `D3D_CT_INTERFACE_POINTERS`: the variables of the buffer are interfaces, and their places numbers of slots.
const INTERFACE_POINTERS: u32 = 2;

/// Reads the interfaces of a program; none if it has none.
pub(super) fn read(container: &Container<'_>) -> Result<ClassLinkage> {
    let Some(part) = container.part(FourCc::IFCE) else { return Ok(ClassLinkage::default()) };
    let mut budget = Budget(container.bytes().len().saturating_mul(64));
    let part = Interfaces::parse(part)?;
    let names = names(container, &mut budget)?;
    for name in part.types.iter().map(|class| &class.name).chain(part.instances.iter().map(|instance| &instance.name)) {
        budget.charge(name)?;
    }
    let classes = part.types.iter().map(|class| ClassType {
        name: class.name.to_string(),
        rows: class.constant_buffer_stride.into(),
        textures: class.texture_stride.into(),
        samplers: class.sampler_stride.into(),
    });
    let register = |number: u16| if number == u16::MAX { 0 } else { number.into() };
    let instances = part.instances.iter().map(|instance| ClassInstance {
        name: instance.name.to_string(),
        class: instance.ty.into(),
        data: InstanceData {
            constant_buffer: register(instance.constant_buffer),
            row: register(instance.constant_buffer_offset),
            texture: register(instance.texture),
            sampler: register(instance.sampler),
        },
    });
    let mut first = 0u32;
    let interfaces = part.slots.iter().map(|record| {
        let slot = first;
        first = first.saturating_add(record.span);
        let implementations = record
            .type_ids
            .iter()
            .zip(&record.table_ids)
            .map(|(class, table)| Implementation { class: (*class).into(), table: *table });
        let name = names.iter().find(|(_, start)| *start == slot);
        InterfaceSlots {
            name: name.map_or_else(|| format!("fp{slot}"), |(name, _)| name.clone()),
            slot,
            count: record.span,
            implementations: implementations.collect(),
        }
    });
    Ok(ClassLinkage { interfaces: interfaces.collect(), classes: classes.collect(), instances: instances.collect() })
}

/// Names may lie on each other: the bytes that may still be copied.
struct Budget(usize);

impl Budget {
    fn charge(&mut self, name: &str) -> Result<()> {
        let rest = self.0.checked_sub(name.len() + 16);
        self.0 = rest.ok_or_else(|| Error::malformed("names of interfaces and classes lie on each other"))?;
        Ok(())
    }
}

/// Names of interfaces, and their first slots.
fn names(container: &Container<'_>, budget: &mut Budget) -> Result<Vec<(String, u32)>> {
    let mut names = Vec::new();
    let Some(part) = container.part(FourCc::RDEF).filter(|part| !part.data.is_empty()) else { return Ok(names) };
    let definitions = ResourceDefinitions::parse(part)?;
    for buffer in definitions.buffers()? {
        let buffer = buffer?;
        if buffer.ty != INTERFACE_POINTERS {
            continue;
        }
        for variable in definitions.variables(&buffer)? {
            let variable = variable?;
            budget.charge(&variable.name)?;
            names.push((variable.name.to_string(), variable.start));
        }
    }
    Ok(names)
}
