//! Attributes of functions, parameters, results and calls.

/// An attribute.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Attribute {
    /// One of LLVM's own, by its number in `LLVMBitCodes.h`, without a value.
    Flag(u64),
    /// One of LLVM's own with a number: an alignment or a size.
    Number(u64, u64),
    /// A string, with a value (empty if it has none): what targets add.
    Text(String, String),
}

/// The attributes of a function, or of one call: those of each index together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttributeList {
    /// Index and its attributes, each once: 0 for the result, 1 and on for parameters, [`AttributeList::FUNCTION`].
    pub groups: Vec<(u32, Vec<Attribute>)>,
}

impl AttributeList {
    /// Index of the attributes of the function as a whole.
    pub const FUNCTION: u32 = u32::MAX;

    /// Adds attributes to those of an index.
    pub(super) fn add(&mut self, index: u32, attributes: &[Attribute]) {
        let position = self.groups.iter().position(|group| group.0 == index).unwrap_or_else(|| {
            self.groups.push((index, Vec::new()));
            self.groups.len() - 1
        });
        let group = &mut self.groups[position].1;
        group.extend_from_slice(attributes);
        // A set has one order, so that equal ones are equal lists.
        group.sort();
        group.dedup();
    }

    /// Attributes of an index; empty if there are none.
    pub fn of(&self, index: u32) -> &[Attribute] {
        self.groups.iter().find(|group| group.0 == index).map_or(&[], |group| &group.1)
    }
}
