//! Places of bindings: groups and numbers by the target's model.

use std::collections::BTreeSet;

use crate::{
    Error, Result,
    ir::BindingId,
    lift::{BindingModel, BindingRole, ResourceSlot},
    reflection::{Binding, ResourceClass, Stage},
};

/// Numbers of one space in [`BindingModel::ByClass`].
const SPACE: u32 = 0x1_0000;

/// Where the spaces from 65,536 on go in [`BindingModel::ByClass`], one after another: below those that
/// [`crate::reflection`] keeps for itself.
const LARGE_SPACES: std::ops::Range<u32> = 0xf000..0xfbff;

/// Where bindings go in [`BindingModel::ByClass`] whose registers have no number in their space, one after another: those
/// from 65,536 on, samplers' from 16,384 on, and what dxc leaves without a register in libraries (4,294,967,295).
const LARGE_REGISTERS: u32 = LARGE_SPACES.end;

/// First number of the twins of samplers that do not filter in [`BindingModel::ByClass`].
const UNFILTERED_SAMPLERS: u32 = 0x4000;

/// First number of the comparing twins of samplers in [`BindingModel::ByClass`].
const COMPARISON_SAMPLERS: u32 = 0x8000;

/// Places for some bindings, each with its role, in the order they are given in.
///
/// # Errors
/// The model has no place for a register.
pub(super) fn slots(
    model: &BindingModel,
    stage: Stage,
    bindings: &[Binding],
    wanted: &[(BindingId, BindingRole)],
) -> Result<Vec<ResourceSlot>> {
    let binding_of = |id: BindingId| {
        bindings.get(id.index()).ok_or_else(|| Error::internal(format!("binding out of range: {id:?}")))
    };
    match model {
        BindingModel::ByClass => {
            let large: BTreeSet<u32> =
                bindings.iter().map(|binding| binding.space).filter(|space| *space >= SPACE).collect();
            let space = |binding: &Binding| match large.iter().position(|space| *space == binding.space) {
                Some(rank) => LARGE_SPACES.clone().nth(rank),
                None => Some(binding.space),
            };
            let homeless: Vec<BindingId> = (0..)
                .zip(bindings)
                .filter(|(_, binding)| binding.register >= registers(binding.class))
                .map(|(id, _)| BindingId(id))
                .collect();
            let place = |&(id, role): &(BindingId, BindingRole)| {
                let binding = binding_of(id)?;
                match homeless.iter().position(|other| *other == id) {
                    Some(rank) => by_class(binding, Some(LARGE_REGISTERS), rank as u32, role),
                    None => by_class(binding, space(binding), binding.register, role),
                }
            };
            wanted.iter().map(place).collect()
        }
        BindingModel::Custom(place) => {
            wanted.iter().map(|&(id, role)| Ok(place(stage, binding_of(id)?, role))).collect()
        }
        BindingModel::PerStage { group, arrays } => {
            let mut order = Vec::new();
            for (position, &(id, role)) in wanted.iter().enumerate() {
                let binding = binding_of(id)?;
                let group = if binding.count == Some(1) { *group } else { *arrays };
                let key = (section(binding.class, role), binding.space, binding.register, role, id);
                order.push((group, key, position));
            }
            order.sort();
            let mut slots = vec![ResourceSlot { group: *group, binding: 0 }; wanted.len()];
            let mut next = ResourceSlot { group: *group, binding: 0 };
            for (group, _, position) in order {
                if group != next.group {
                    next = ResourceSlot { group, binding: 0 };
                }
                slots[position] = next;
                next.binding += 1;
            }
            Ok(slots)
        }
    }
}

/// Section of a class: counters come last.
fn section(class: ResourceClass, role: BindingRole) -> u32 {
    match (class, role) {
        (_, BindingRole::Counter) => 4,
        (ResourceClass::Cbv, _) => 0,
        (ResourceClass::Srv, _) => 1,
        (ResourceClass::Sampler, _) => 2,
        (ResourceClass::Uav, _) => 3,
    }
}

/// How many registers of a class have numbers in their space in [`BindingModel::ByClass`].
fn registers(class: ResourceClass) -> u32 {
    if class == ResourceClass::Sampler { UNFILTERED_SAMPLERS } else { SPACE }
}

/// Place by [`BindingModel::ByClass`], with the space's and the register's numbers there.
fn by_class(binding: &Binding, space: Option<u32>, register: u32, role: BindingRole) -> Result<ResourceSlot> {
    let first = match role {
        BindingRole::Resource | BindingRole::Counter => 0,
        BindingRole::UnfilteredSampler => UNFILTERED_SAMPLERS,
        BindingRole::ComparisonSampler => COMPARISON_SAMPLERS,
    };
    let number = Some(register)
        .filter(|register| *register < registers(binding.class))
        .and_then(|register| space?.checked_mul(SPACE)?.checked_add(register + first))
        .ok_or_else(|| {
            let (register, space) = (binding.register, binding.space);
            Error::unsupported(format!("register beyond the binding model ByClass: {register} of space {space}"))
        })?;
    Ok(ResourceSlot { group: section(binding.class, role), binding: number })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reflection::{ResourceKind, SamplerMode};

    fn binding(class: ResourceClass, space: u32, register: u32) -> Binding {
        let kind = ResourceKind::Sampler { mode: SamplerMode::Default };
        Binding { name: None, class, space, register, count: Some(1), kind, layout: None }
    }

    #[test]
    fn by_class_puts_the_space_in_the_upper_bits_and_counters_in_a_group_of_their_own() {
        let bindings = [binding(ResourceClass::Uav, 2, 5), binding(ResourceClass::Sampler, 0, 3)];
        let wanted = [
            (BindingId(0), BindingRole::Resource),
            (BindingId(0), BindingRole::Counter),
            (BindingId(1), BindingRole::Resource),
            (BindingId(1), BindingRole::ComparisonSampler),
        ];
        let slots = slots(&BindingModel::ByClass, Stage::Pixel, &bindings, &wanted).unwrap();
        let slots: Vec<_> = slots.iter().map(|slot| (slot.group, slot.binding)).collect();
        assert_eq!(slots, [(3, 131_077), (4, 131_077), (2, 3), (2, 32_771)]);
    }

    #[test]
    fn per_stage_numbers_densely_by_class_then_register() {
        let mut bindings = [
            binding(ResourceClass::Uav, 0, 1),
            binding(ResourceClass::Srv, 0, 7),
            binding(ResourceClass::Cbv, 1, 0),
            binding(ResourceClass::Srv, 0, 2),
        ];
        let wanted = [
            (BindingId(0), BindingRole::Resource),
            (BindingId(0), BindingRole::Counter),
            (BindingId(1), BindingRole::Resource),
            (BindingId(2), BindingRole::Resource),
            (BindingId(3), BindingRole::Resource),
        ];
        let model = BindingModel::PerStage { group: 2, arrays: 2 };
        let slots = slots(&model, Stage::Pixel, &bindings, &wanted).unwrap();
        let slots: Vec<_> = slots.iter().map(|slot| (slot.group, slot.binding)).collect();
        assert_eq!(slots, [(2, 3), (2, 4), (2, 2), (2, 0), (2, 1)]);

        // An array has a group of its own, with numbers of its own.
        bindings[3].count = None;
        let model = BindingModel::PerStage { group: 2, arrays: 0 };
        let places = super::slots(&model, Stage::Pixel, &bindings, &wanted).unwrap();
        let places: Vec<_> = places.iter().map(|slot| (slot.group, slot.binding)).collect();
        assert_eq!(places, [(2, 2), (2, 3), (2, 1), (2, 0), (0, 0)]);
    }

    #[test]
    fn by_class_makes_room_for_large_spaces_and_registers() {
        let bindings = [
            binding(ResourceClass::Srv, 0xcccc_cccc, 2),
            binding(ResourceClass::Srv, 0x1_0000, 0),
            binding(ResourceClass::Srv, 0, 0x1_0000),
            // What dxc leaves without a register.
            binding(ResourceClass::Srv, u32::MAX, u32::MAX),
            binding(ResourceClass::Srv, u32::MAX, u32::MAX),
            binding(ResourceClass::Sampler, 0, 0x8000),
        ];
        let mut wanted = [0, 1, 2, 3, 4, 5].map(|id| (BindingId(id), BindingRole::Resource)).to_vec();
        wanted.push((BindingId(5), BindingRole::ComparisonSampler));
        let places = slots(&BindingModel::ByClass, Stage::Pixel, &bindings, &wanted).unwrap();
        let places: Vec<_> = places.iter().map(|slot| slot.binding).collect();
        let expected = [0xf001_0002, 0xf000_0000, 0xfbff_0000, 0xfbff_0001, 0xfbff_0002, 0xfbff_0003, 0xfbff_8003];
        assert_eq!(places, expected);
    }
}
