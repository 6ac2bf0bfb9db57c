//! Containers within other files: archives, executables, wrappers of engines.

use std::io::{self, Read};

use super::{Container, FourCc, file::HEADER_LEN};

/// Finds the containers in a stream of bytes, whatever lies between them.
///
/// What begins with the magic is a container if it has at least one part, and all of its parts lie within its size.
/// Memory is needed for a window of the stream and the largest container.
///
/// ```
/// # let shader = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/reflection/depth.dxbc"));
/// use bevy_dxshader::container::Carver;
///
/// let archive = [b"DXBC is only text here: ", &shader[..], b"more"].concat();
/// let found = Carver::new(&archive[..]).collect::<Result<Vec<_>, _>>().unwrap();
/// assert_eq!((found[0].offset, &found[0].bytes[..], found.len()), (24, &shader[..], 1));
/// ```
#[derive(Debug)]
pub struct Carver<R> {
    stream: R,
    /// What has been read of the stream and not been dropped.
    window: Vec<u8>,
    /// Offset of the window in the stream.
    offset: u64,
    /// Where in the window the search goes on.
    next: usize,
    nested: bool,
}

/// A container that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carved {
    /// Byte offset in the stream.
    pub offset: u64,
    /// The container, as many bytes as its header says.
    pub bytes: Vec<u8>,
}

/// Bytes that are read at a time.
const WINDOW: usize = 4 << 20;

impl<R: Read> Carver<R> {
    /// Searches a stream from where it is.
    pub fn new(stream: R) -> Self {
        Self { stream, window: Vec::new(), offset: 0, next: 0, nested: false }
    }

    /// Whether to search within containers too: for functions of a library, and programs in private data.
    pub fn nested(mut self, nested: bool) -> Self {
        self.nested = nested;
        self
    }

    fn search(&mut self) -> io::Result<Option<Carved>> {
        loop {
            let magic = self.window[self.next..].windows(4).position(|bytes| bytes == FourCc::DXBC.0);
            let Some(distance) = magic else {
                // The magic may be cut in two.
                self.next = self.next.max(self.window.len().saturating_sub(3));
                self.offset += self.next as u64;
                self.window.drain(..self.next);
                self.next = 0;
                if !self.fill(self.window.len() + WINDOW)? {
                    return Ok(None);
                }
                continue;
            };
            self.next += distance;
            let Some(size) = self.container()? else {
                self.next += 4;
                continue;
            };
            let bytes = self.window[self.next..self.next + size].to_vec();
            let offset = self.offset + self.next as u64;
            self.next += if self.nested { 4 } else { size };
            return Ok(Some(Carved { offset, bytes }));
        }
    }

    /// The size of the container that begins where the search is, if there is one.
    fn container(&mut self) -> io::Result<Option<usize>> {
        let start = self.next;
        if !self.has(HEADER_LEN)? {
            return Ok(None);
        }
        let u32_at = |window: &[u8], offset: usize| {
            window
                .get(start + offset..start + offset + 4)
                .map_or(0, |bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize)
        };
        let (size, count) = (u32_at(&self.window, 24), u32_at(&self.window, 28));
        // The table is looked at first: chance bytes should not make a large window.
        if count == 0 || size < HEADER_LEN || count > (size - HEADER_LEN) / 4 || !self.has(HEADER_LEN + 4 * count)? {
            return Ok(None);
        }
        let fits = |entry| u32_at(&self.window, HEADER_LEN + 4 * entry).saturating_add(8) <= size;
        if !(0..count).all(fits) || !self.has(size)? {
            return Ok(None);
        }
        let found = Container::parse(&self.window[start..start + size]).is_ok();
        Ok(found.then_some(size))
    }

    /// Reads on until that many bytes follow where the search is, if the stream has them.
    fn has(&mut self, len: usize) -> io::Result<bool> {
        let end = self.next + len;
        if self.window.len() < end {
            self.fill(end.max(self.next + WINDOW))?;
        }
        Ok(self.window.len() >= end)
    }

    /// Reads on until the window has that many bytes or the stream ends. Says whether it read anything.
    fn fill(&mut self, len: usize) -> io::Result<bool> {
        let wanted = len.saturating_sub(self.window.len()) as u64;
        Ok(self.stream.by_ref().take(wanted).read_to_end(&mut self.window)? > 0)
    }
}

/// The containers, by offset.
impl<R: Read> Iterator for Carver<R> {
    type Item = io::Result<Carved>;

    fn next(&mut self) -> Option<Self::Item> {
        self.search().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEPTH: &[u8] = include_bytes!("../../tests/fixtures/reflection/depth.dxbc");

    /// Gives its bytes a few at a time.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let len = buffer.len().min(self.0.len()).min(7);
            let (now, later) = self.0.split_at(len);
            buffer[..len].copy_from_slice(now);
            self.0 = later;
            Ok(len)
        }
    }

    #[test]
    fn finds_all_and_nothing_else() {
        let private = super::super::ContainerWriter::new().push(FourCc::PRIV, DEPTH).write().unwrap();
        let mut bytes = b"DXBDXBCDXB".to_vec();
        bytes.extend(&DEPTH[..DEPTH.len() - 1]);
        bytes.extend(DEPTH);
        bytes.resize(WINDOW - 2, b'D');
        bytes.extend(&private);
        bytes.extend(&private[..40]);
        let offsets = |nested| {
            let carver = Carver::new(Slow(&bytes)).nested(nested);
            carver.map(|carved| carved.unwrap()).map(|carved| (carved.offset, carved.bytes.len())).collect::<Vec<_>>()
        };
        let first = (10 + DEPTH.len() as u64 - 1, DEPTH.len());
        let second = (WINDOW as u64 - 2, private.len());
        // The first copy lacks its last byte, but the next byte stands in for it.
        assert_eq!(offsets(false), [(10, DEPTH.len()), second]);
        let inner = (second.0 + 44, DEPTH.len());
        assert_eq!(offsets(true), [(10, DEPTH.len()), first, second, inner]);
        assert_eq!(Carver::new(&bytes[..0]).count(), 0);
    }
}
