//! The container: all parts of any bytes, typed, reflected, and written again.

#![no_main]

use bevy_dxshader::{
    container::{Container, ContainerWriter, PartView},
    reflection,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(container) = Container::parse(bytes) else { return };
    for part in container.parts() {
        if let Err(error) = PartView::read(&container, part) {
            assert_eq!(error.place.part, Some(part.name), "an error names the part: {error}");
        }
    }
    let _ = reflection::reflect(&container);
    // One with a length that does not fit 32 bits cannot arise from an input that does.
    let written = ContainerWriter::from_container(&container).write().expect("what was read can be written");
    let read = Container::parse(&written).expect("what was written can be read");
    assert!(read.parts().map(|part| part.data).eq(container.parts().map(|part| part.data)), "the parts are the same");
});
