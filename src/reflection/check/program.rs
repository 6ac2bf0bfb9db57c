//! `RDEF`, `STAT` and `SFI0` against the program.

use super::Checker;
use crate::{
    Result,
    container::{Container, FeatureFlags, FourCc, ProgramHeader, ResourceDefinitions, Statistics, feature_flags},
    dxil,
    reflection::{Binding, ComponentType, Interface, ResourceClass, ResourceKind, ShaderModel, Stage, read::bindings},
};

impl Checker {
    pub(super) fn program(
        &mut self,
        container: &Container<'_>,
        program: &ProgramHeader<'_>,
        declared: &Interface,
    ) -> Result<()> {
        match program {
            ProgramHeader::Tokens(_) => {
                self.resource_definitions(container, declared)?;
                self.token_features(container, declared)?;
                self.statistics(container, declared)
            }
            ProgramHeader::Bitcode(_) => {
                self.features(container, declared)?;
                self.twin(container, declared)
            }
        }
    }

    /// `RDEF` describes what the tokens declare.
    fn resource_definitions(&mut self, container: &Container<'_>, declared: &Interface) -> Result<()> {
        const PART: FourCc = FourCc::RDEF;
        let Some(part) = container.part(PART).filter(|part| !part.data.is_empty()) else { return Ok(()) };
        let at_least_5_1 = declared.shader_model >= ShaderModel { major: 5, minor: 1 };
        let described = bindings::read(&ResourceDefinitions::parse(part)?, at_least_5_1)?;
        for binding in &declared.bindings {
            let name = register_name(binding);
            let found = described.iter().find(|it| {
                it.class == binding.class
                    && it.space == binding.space
                    && it.register <= binding.register
                    && it.count.is_none_or(|count| binding.register - it.register < count)
            });
            match found {
                Some(found) => self.kinds(PART, &name, &binding.kind, &found.kind),
                None => self.compare(PART, name, "it is there", "it is not"),
            }
        }
        Ok(())
    }

    /// What tokens can say of a resource.
    fn kinds(&mut self, part: FourCc, name: &str, declared: &ResourceKind, described: &ResourceKind) {
        use ResourceKind::{ConstantBuffer, RawBuffer, Sampler, StructuredBuffer, Texture, TextureBuffer, TypedBuffer};
        let known = |component: ComponentType| Some(component).filter(|&it| it != ComponentType::Unknown);
        match (*declared, *described) {
            (ConstantBuffer { size: declared }, ConstantBuffer { size }) => {
                // Only the rows that are read are declared; a buffer of any size may be bound to an array.
                let most = 4096 * 16;
                if declared > size && declared < most {
                    self.compare(part, format!("size of {name}"), declared, size);
                }
            }
            (Sampler { mode: declared }, Sampler { mode }) => {
                self.compare(part, format!("mode of {name}"), declared, mode);
            }
            (
                Texture { dimension: declared_dimension, component: declared, .. },
                Texture { dimension, component, .. },
            ) => {
                self.compare(part, format!("dimension of {name}"), declared_dimension, dimension);
                self.compare_known(part, format!("component type of {name}"), known(declared), known(component));
            }
            (TypedBuffer { component: declared, .. }, TypedBuffer { component, .. }) => {
                self.compare_known(part, format!("component type of {name}"), known(declared), known(component));
            }
            (StructuredBuffer { stride: declared, .. }, StructuredBuffer { stride, .. }) => {
                self.compare(part, format!("stride of {name}"), declared, stride);
            }
            (RawBuffer { .. }, RawBuffer { .. }) | (TypedBuffer { .. }, TextureBuffer { .. }) => {}
            (declared, described) => self.compare(part, format!("kind of {name}"), declared, described),
        }
    }

    /// fxc's `STAT` repeats some declarations.
    fn statistics(&mut self, container: &Container<'_>, declared: &Interface) -> Result<()> {
        const PART: FourCc = FourCc::STAT;
        let Some(part) = container.part(PART) else { return Ok(()) };
        let stored = Statistics::parse(part)?;
        let Some(entry) = declared.entry_points.first() else { return Ok(()) };
        let primitives = &entry.facts.primitives;
        match entry.stage {
            Stage::Pixel => {
                self.compare(PART, "sample frequency", entry.facts.sample_frequency, stored.sample_frequency);
            }
            Stage::Geometry => {
                let declared = [primitives.input_primitive, primitives.output_topology, primitives.max_vertex_count];
                let stored =
                    [stored.input_primitive, stored.geometry_output_topology, stored.geometry_max_output_vertices];
                for (fact, declared, stored) in
                    [("input primitive", 0), ("topology of the output", 1), ("vertices of the output", 2)]
                        .map(|(fact, index)| (fact, declared[index], stored[index]))
                {
                    self.compare_known(PART, fact, declared, Some(stored));
                }
            }
            Stage::Hull | Stage::Domain => {
                let Some(stored) = stored.shader_model_5 else { return Ok(()) };
                self.compare_known(
                    PART,
                    "domain of the tessellator",
                    primitives.tessellator_domain,
                    Some(stored.tessellator_domain),
                );
                if entry.stage == Stage::Hull {
                    let (output, partitioning) = (stored.hull_output_primitive, stored.hull_partitioning);
                    self.compare_known(PART, "output of the tessellator", primitives.tessellator_output, Some(output));
                    self.compare_known(
                        PART,
                        "partitioning of the tessellator",
                        primitives.tessellator_partitioning,
                        Some(partitioning),
                    );
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// `SFI0` against the flags of the tokens, which name some of the features.
    fn token_features(&mut self, container: &Container<'_>, declared: &Interface) -> Result<()> {
        const NAMED: u64 = FeatureFlags::DOUBLES.0
            | FeatureFlags::MINIMUM_PRECISION.0
            | FeatureFlags::DOUBLE_EXTENSIONS_11_1.0
            | FeatureFlags::SHADER_EXTENSIONS_11_1.0;
        if let Some(stored) = feature_flags(container)? {
            let named = |flags: u64| FeatureFlags(flags & NAMED);
            self.compare(FourCc::SFI0, "features", named(declared.feature_flags.0), named(stored));
        }
        Ok(())
    }

    /// `SFI0` against the flags of the metadata.
    fn features(&mut self, container: &Container<'_>, declared: &Interface) -> Result<()> {
        if let Some(stored) = feature_flags(container)? {
            self.compare(FourCc::SFI0, "features", declared.feature_flags, FeatureFlags(stored));
        }
        Ok(())
    }

    /// The program without code that dxc keeps for reflection: the same metadata, but for names.
    fn twin(&mut self, container: &Container<'_>, declared: &Interface) -> Result<()> {
        const PART: FourCc = FourCc::STAT;
        let Some(twin) = dxil::reflect_twin(container)? else { return Ok(()) };
        self.compare(PART, "number of entry points", declared.entry_points.len(), twin.entry_points.len());
        for (entry, twin) in declared.entry_points.iter().zip(&twin.entry_points) {
            self.compare(PART, format!("stage of {}", entry.name), entry.stage, twin.stage);
            self.compare(PART, format!("facts of {}", entry.name), &entry.facts, &twin.facts);
        }
        for binding in declared.bindings.iter().filter(|binding| !binding.is_heap() && !binding.is_of_host()) {
            let place = |it: &Binding| (it.class, it.space, it.register, it.count);
            let name = register_name(binding);
            // Several resources of a library may have no register: any of the kind will do.
            let mut twins = twin.bindings.iter().filter(|twin| place(twin) == place(binding));
            let same = twins.clone().find(|twin| twin.kind == binding.kind);
            match same.or_else(|| twins.next()) {
                Some(twin) => self.compare(PART, format!("kind of {name}"), binding.kind, twin.kind),
                None => self.compare(PART, name, "it is there", "it is not"),
            }
        }
        Ok(())
    }
}

fn register_name(binding: &Binding) -> String {
    let letter = match binding.class {
        ResourceClass::Cbv => 'b',
        ResourceClass::Srv => 't',
        ResourceClass::Uav => 'u',
        ResourceClass::Sampler => 's',
    };
    format!("{letter}{}, space {}", binding.register, binding.space)
}
