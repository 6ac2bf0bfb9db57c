//! Buffers of bind groups.

use wgpu::BufferUsages;

use super::{
    Binder, BoundBuffer, Slot,
    specialize::named_format,
    write_back::{TexturePart, WriteBack},
};
use crate::{
    cases::{
        device::Halt,
        format::View,
        resources::{BufferResource, new_buffer, write_buffer},
    },
    lift::{BindingRole, TEXEL_BUFFER_HEADER, ViewDimension},
};

impl Binder<'_> {
    /// The part of a buffer that a view shows: its first byte and its bytes.
    fn part(&self, slot: Slot<'_>, buffer: &BufferResource) -> Result<(u64, u64), String> {
        let Some((first, count)) = slot.binding.range else { return Ok((0, buffer.size)) };
        let element = match &slot.binding.view {
            Some(View::Constant) => 16,
            Some(View::Raw) => 4,
            Some(View::Structured { stride }) => u64::from(*stride),
            Some(View::Typed { format }) => named_format(format)?.block_copy_size(None).unwrap_or(4).into(),
            view => return Err(format!("a range in a view {view:?}")),
        };
        let (offset, size) = (u64::from(first) * element, u64::from(count) * element);
        if offset + size > buffer.size {
            return Err(format!("the view ends at byte {}, buffer {} at {}", offset + size, slot.name, buffer.size));
        }
        Ok((offset, size))
    }

    /// A constant buffer: a copy, so that it has the bytes that the module declares, whatever else the step does with it.
    pub(super) fn constants(&self, slot: Option<Slot<'_>>, declared_size: u32) -> Result<BoundBuffer, Halt> {
        let mut bytes = Vec::new();
        if let Some(slot) = slot {
            let resource = self.resources.buffer(slot.name)?;
            let (offset, size) = self.part(slot, resource)?;
            bytes = self.gpu.read_buffer(&resource.buffer, resource.size)?;
            bytes.drain(..offset as usize);
            bytes.truncate(size as usize);
        }
        let largest = self.gpu.limits().max_uniform_buffer_binding_size as usize;
        bytes.truncate(largest);
        let size = bytes.len().max(declared_size as usize).max(16).next_multiple_of(16) as u64;
        let buffer = new_buffer(self.gpu, "constants", size, BufferUsages::UNIFORM | BufferUsages::COPY_DST);
        write_buffer(self.gpu, &buffer, &bytes);
        Ok(BoundBuffer { buffer, offset: 0, size })
    }

    /// A storage buffer, or the counter of one.
    pub(super) fn storage(
        &self,
        slot: Option<Slot<'_>>,
        role: BindingRole,
        read_only: bool,
        element: u32,
        write_backs: &mut Vec<WriteBack>,
    ) -> Result<BoundBuffer, Halt> {
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        let unbound = || {
            let buffer = new_buffer(self.gpu, "unbound", element.into(), usage);
            BoundBuffer { size: buffer.size(), buffer, offset: 0 }
        };
        let Some(slot) = slot else { return Ok(unbound()) };
        let whole = |resource: &BufferResource| BoundBuffer {
            buffer: resource.buffer.clone(),
            offset: 0,
            size: resource.buffer.size(),
        };
        if role == BindingRole::Counter {
            return match &slot.binding.counter {
                Some(name) => Ok(whole(self.resources.buffer(name)?)),
                None => Ok(unbound()),
            };
        }
        let resource = self.resources.buffer(slot.name)?;
        if slot.binding.range.is_none() {
            return Ok(whole(resource));
        }
        let (offset, size) = self.part(slot, resource)?;
        let alignment = self.gpu.limits().min_storage_buffer_offset_alignment;
        if offset % u64::from(alignment) == 0 && size % 4 == 0 && size > 0 {
            return Ok(BoundBuffer { buffer: resource.buffer.clone(), offset, size });
        }
        let bytes = self.gpu.read_buffer(&resource.buffer, resource.size)?;
        let copy = new_buffer(self.gpu, slot.name, size, usage);
        write_buffer(self.gpu, &copy, &bytes[offset as usize..(offset + size) as usize]);
        if !read_only {
            write_backs.push(WriteBack::Part {
                copy: copy.clone(),
                buffer: resource.buffer.clone(),
                buffer_size: resource.size,
                offset,
                size,
            });
        }
        Ok(BoundBuffer { size: copy.size(), buffer: copy, offset: 0 })
    }

    /// A buffer that stands for a texture.
    pub(super) fn texels(
        &self,
        slot: Option<Slot<'_>>,
        dimension: ViewDimension,
        write_backs: &mut Vec<WriteBack>,
    ) -> Result<BoundBuffer, Halt> {
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        let Some(slot) = slot else {
            let buffer = new_buffer(self.gpu, "unbound", TEXEL_BUFFER_HEADER.into(), usage);
            return Ok(BoundBuffer { size: buffer.size(), buffer, offset: 0 });
        };
        let texture = &self.resources.texture(slot.name)?.texture;
        let (mips, layers) = match &slot.binding.view {
            Some(View::Texture { mips, layers, .. }) => (*mips, *layers),
            None => (None, None),
            Some(view) => return Err(Halt::Failed(format!("texture {} in a view {view:?}", slot.name))),
        };
        let texel = texture.format().block_copy_size(None);
        let texel = texel.ok_or_else(|| format!("texels of {}: {:?} has no one size", slot.name, texture.format()))?;
        let mip = mips.map_or(0, |(first, _)| first);
        let mut size = texture.size().mip_level_size(mip, texture.dimension());
        let mut first_layer = 0;
        if dimension != ViewDimension::D3 {
            let (first, count) = layers.unwrap_or((0, texture.depth_or_array_layers()));
            first_layer = first;
            size.depth_or_array_layers = if dimension == ViewDimension::D2 { 1 } else { count };
        }
        let pitch = (size.width * texel).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let part = TexturePart { mip, first_layer, size, pitch };
        let bytes = u64::from(pitch) * u64::from(size.height) * u64::from(size.depth_or_array_layers);
        let buffer = new_buffer(self.gpu, slot.name, u64::from(TEXEL_BUFFER_HEADER) + bytes, usage);
        let header = [size.width, size.height, size.depth_or_array_layers, pitch / 4];
        write_buffer(self.gpu, &buffer, &header.map(u32::to_le_bytes).concat());
        let mut encoder = self.gpu.encoder();
        encoder.copy_texture_to_buffer(part.of_texture(texture), part.of_buffer(&buffer), size);
        self.gpu.submit(encoder)?;
        write_backs.push(WriteBack::Texels { copy: buffer.clone(), texture: texture.clone(), part });
        Ok(BoundBuffer { size: buffer.size(), buffer, offset: 0 })
    }
}
