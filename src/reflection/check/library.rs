//! `RDAT` against the metadata of a library.

use super::{Checker, pipeline_state::kind};
use crate::{
    Result,
    container::{Container, DxilResourceClass, FeatureFlags, FourCc, RuntimeData},
    reflection::{Interface, ResourceClass},
};

const PART: FourCc = FourCc::RDAT;

impl Checker {
    pub(super) fn library(&mut self, container: &Container<'_>, interface: &Interface) -> Result<()> {
        let Some(part) = container.part(PART) else { return Ok(()) };
        let data = RuntimeData::parse(part)?;
        for entry in &interface.entry_points {
            let name = &entry.name;
            let function = entry
                .library
                .as_ref()
                .and_then(|export| data.functions.iter().find(|function| function.name == export.mangled_name));
            let Some(function) = function else {
                self.compare(PART, format!("entry point {name}"), "it is there", "it is not");
                continue;
            };
            let payload = entry.facts.primitives.payload_size.unwrap_or(0);
            self.compare(PART, format!("bytes of payload of {name}"), payload, function.payload_size);
            let attributes = entry.facts.attribute_size.unwrap_or(0);
            self.compare(PART, format!("bytes of attributes of {name}"), attributes, function.attribute_size);
            let lanes = entry.facts.wave_size.map_or((0, 0), |[min, max, _]| (min, if max == 0 { min } else { max }));
            let stored = (function.min_wave_lanes.into(), function.max_wave_lanes.into());
            self.compare(PART, format!("wave size of {name}"), lanes, stored);
        }
        let features = data.functions.iter().fold(0, |features, function| features | function.features.0);
        // What only the runtime data have.
        let optional = FeatureFlags::USES_DERIVATIVES.0 | FeatureFlags::REQUIRES_GROUP.0;
        let missing = FeatureFlags(features & !optional & !interface.feature_flags.0);
        self.compare(PART, "features that the program does not name", FeatureFlags(0), missing);

        let mut stored = data.resources;
        for binding in interface.bindings.iter().filter(|it| !it.is_heap() && !it.is_of_host()) {
            let name = format!("{:?} register {}, space {}", binding.class, binding.register, binding.space);
            let class = match binding.class {
                ResourceClass::Srv => DxilResourceClass::SRV,
                ResourceClass::Uav => DxilResourceClass::UAV,
                ResourceClass::Cbv => DxilResourceClass::CBUFFER,
                ResourceClass::Sampler => DxilResourceClass::SAMPLER,
            };
            let place = (class, binding.space, binding.register);
            let at = |of_kind: bool| {
                stored.iter().position(|it| {
                    (it.class, it.space, it.lower) == place && (!of_kind || it.kind == kind(&binding.kind))
                })
            };
            // Several resources may have no register: any of the kind will do.
            let Some(at) = at(true).or_else(|| at(false)) else {
                self.compare(PART, name, "it is there", "it is not");
                continue;
            };
            let stored = stored.swap_remove(at);
            let last = binding.count.map_or(u32::MAX, |count| binding.register.wrapping_add(count).wrapping_sub(1));
            self.compare(PART, format!("last register of {name}"), last, stored.upper);
            self.compare(PART, format!("kind of {name}"), kind(&binding.kind), stored.kind);
        }
        for stored in stored {
            let name = format!("{} register {}, space {}", stored.class, stored.lower, stored.space);
            self.compare(PART, name, "it is not there", "it is");
        }
        Ok(())
    }
}
