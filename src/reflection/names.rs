//! Names from a PDB file for an interface that lost its own.

use super::{Interface, ResourceClass};
use crate::container::Pdb;

impl Interface {
    /// Gives bindings without a name the one that fxc's PDB file has for their register. (dxc's files have a program with
    /// names in place of the shader's: [`Pdb::with_names`].)
    pub fn add_names(&mut self, pdb: &Pdb<'_>) {
        for binding in self.bindings.iter_mut().filter(|binding| binding.name.is_none() && binding.space == 0) {
            let class = match binding.class {
                ResourceClass::Srv => 't',
                ResourceClass::Sampler => 's',
                ResourceClass::Uav => 'u',
                ResourceClass::Cbv => continue,
            };
            let register = |name: u16| u32::from(name) == binding.register;
            let found = pdb.resources.iter().find(|it| it.class == class && register(it.register));
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
