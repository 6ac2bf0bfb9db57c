//! Names from a PDB file for an interface that lost its own.

use super::{Interface, ResourceClass, read};
use crate::container::Pdb;

impl Interface {
    /// Gives bindings without a name the one that fxc's PDB file has for their register. (dxc's files have a program with
    /// names in place of the shader's: [`Pdb::with_names`].) Constant buffers without a layout get that of the constants which
    /// the program reads, as the file has no others, and no name, as it has none.
    pub fn add_names(&mut self, pdb: &Pdb<'_>) {
        for binding in self.bindings.iter_mut().filter(|binding| binding.name.is_none()) {
            let class = match binding.class {
                ResourceClass::Srv => 't',
                ResourceClass::Sampler => 's',
                ResourceClass::Uav => 'u',
                ResourceClass::Cbv => {
                    if binding.layout.is_none() {
                        binding.layout = read::debug_layout(pdb, binding);
                    }
                    continue;
                }
            };
            let place = (class, binding.space, binding.register);
            let found = pdb.resources.iter().find(|it| (it.class, it.space, it.register) == place);
            binding.name = found.map(|found| found.name.clone());
            let arguments = self.entry_points.iter_mut().flat_map(|entry| &mut entry.root_bindings);
            for argument in arguments
                .filter(|it| (it.class, it.space, it.register) == (binding.class, binding.space, binding.register))
            {
                argument.name.clone_from(&binding.name);
            }
        }
    }
}
