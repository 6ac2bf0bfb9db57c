//! Comments in front of a module: what its container says of it, in the tables of `dxc -dumpbin`.
//!
//! Features, signatures, debug name, hash and resource bindings are line for line those of dxc. Buffers are listed from
//! the [`Interface`], without the structures that dxc wraps them in. dxc's tables of the pipeline's run time and of what
//! depends on the view are not written: `dxshader inspect --part PSV0` has them.

mod bindings;
mod buffers;
mod features;
mod signatures;

use std::fmt::Write;

use super::names::one_line;
use crate::{
    Result,
    container::{Container, FourCc, debug_name, shader_hash},
    dxil::module::Module,
    reflection::Interface,
};

/// The comments. What cannot be read becomes a comment that says so. `resources` is the module that names the resources:
/// the program's twin for reflection, if there is one.
pub fn preamble(
    container: &Container<'_>,
    module: &Module,
    resources: &Module,
    interface: &Result<Interface>,
) -> String {
    let mut text = String::new();
    let signatures = [("Input", FourCc::ISG1), ("Output", FourCc::OSG1), ("Patch Constant", FourCc::PSG1)];
    section(&mut text, |text| features::features(text, container));
    for (title, name) in signatures {
        section(&mut text, |text| signatures::part(text, container, title, name));
    }
    section(&mut text, |text| {
        if let Some(name) = debug_name(container)? {
            line(text, &format!(" shader debug name: {name}"));
        }
        Ok(())
    });
    section(&mut text, |text| hash(text, container));
    section(&mut text, |text| signatures::interpolation(text, module));
    section(&mut text, |text| buffers::buffers(text, interface.as_ref().map_err(Clone::clone)?));
    section(&mut text, |text| bindings::bindings(text, resources));
    text
}

/// Writes a section, or the error that it ends in.
fn section(text: &mut String, write: impl FnOnce(&mut String) -> Result<()>) {
    if let Err(error) = write(text) {
        line(text, &format!(" {error}"));
    }
}

/// A comment line.
fn line(text: &mut String, content: &str) {
    text.push(';');
    one_line(text, content);
    text.push('\n');
}

fn lines(text: &mut String, contents: &[&str]) {
    contents.iter().for_each(|content| line(text, content));
}

fn hash(text: &mut String, container: &Container<'_>) -> Result<()> {
    if let Some(hash) = shader_hash(container)? {
        let digits = hash.digest.iter().fold(String::new(), |mut digits, byte| {
            // Writing to a string does not fail.
            let _ = write!(digits, "{byte:02x}");
            digits
        });
        let source = if hash.includes_source { " (includes source)" } else { "" };
        line(text, &format!(" shader hash: {digits}{source}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_end_a_comment() {
        let mut text = String::new();
        line(&mut text, " shader debug name: a\ndefine void @b");
        assert_eq!(text, "; shader debug name: a\\0Adefine void @b\n");
    }

    #[test]
    fn what_cannot_be_read_is_a_comment() {
        let container = crate::container::ContainerWriter::new().push(FourCc::HASH, vec![0; 4]).write().unwrap();
        let container = Container::parse(&container).unwrap();
        let interface = Err(crate::Error::malformed("no interface"));
        let text = preamble(&container, &Module::default(), &Module::default(), &interface);
        assert!(text.contains("part HASH"), "{text}");
        assert!(text.contains("no interface"), "{text}");
        assert!(text.lines().all(|line| line.starts_with(';')), "{text}");
    }
}
