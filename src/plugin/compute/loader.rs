//! Loads `.dxcomp.ron` files.

use bevy::{
    asset::{AssetLoader, LoadContext, RenderAssetUsages, io::Reader},
    image::{ImageLoaderSettings, ImageSampler},
    platform::collections::HashMap,
    prelude::*,
    render::{
        render_resource::{BufferUsages, Extent3d, TextureDescriptor, TextureDimension, TextureFormat, TextureUsages},
        storage::ShaderBuffer,
    },
};

use super::{BufferFile, ComputeFile, DxCompute, ImageFile, NewImage, NumberType};
use crate::plugin::{
    constants::{ConstantValue, Number},
    gpu::storage_format_named,
    load::read_settled,
    material::{DxMaterialError, TextureSettings, asset_path, ron_options},
};

/// Bytes that a buffer of a file may have at most: what WebGPU's default limits bind at once.
const MAX_BUFFER: u64 = 128 << 20;

/// Loads [`DxCompute`]s. The images and buffers that a file describes are labelled sub-assets by their names.
#[derive(TypePath)]
pub struct DxComputeLoader {
    server: AssetServer,
}

impl FromWorld for DxComputeLoader {
    fn from_world(world: &mut World) -> Self {
        Self { server: world.resource::<AssetServer>().clone() }
    }
}

/// Why a compute file did not load. Bevy adds the file's name.
#[derive(Debug, thiserror::Error)]
pub enum DxComputeError {
    /// The file could not be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The file is no UTF-8.
    #[error("not UTF-8 text: {0}")]
    Text(#[from] std::str::Utf8Error),
    /// The file is no compute program.
    #[error("line and column {0}")]
    Ron(#[from] ron::error::SpannedError),
    /// It names no shader.
    #[error("it names no `shader`")]
    NoShader,
    /// A path that is none.
    #[error(transparent)]
    Path(#[from] DxMaterialError),
    /// An image or a buffer that cannot be made.
    #[error("`{name}`: {reason}")]
    Resource {
        /// Its name.
        name: String,
        /// Why.
        reason: String,
    },
}

impl AssetLoader for DxComputeLoader {
    type Asset = DxCompute;
    type Settings = ();
    type Error = DxComputeError;

    async fn load(
        &self,
        reader: &mut dyn Reader,
        _: &(),
        context: &mut LoadContext<'_>,
    ) -> Result<DxCompute, DxComputeError> {
        let path = context.path().clone();
        let file = read_settled(&self.server, &path, reader, parse).await?;
        let mut images = HashMap::default();
        for (name, image) in &file.images {
            let fault = |reason| DxComputeError::Resource { name: name.clone(), reason };
            let handle = match image {
                ImageFile::Path(path) => context.load(asset_path(context.path(), path)?),
                ImageFile::Settings(TextureSettings { path, srgb }) => {
                    let (path, srgb) = (asset_path(context.path(), path)?, *srgb);
                    let settings = move |settings: &mut ImageLoaderSettings| settings.is_srgb = srgb;
                    context.load_builder().with_settings(settings).load(path)
                }
                ImageFile::New(new) => context.add_labeled_asset(name.clone(), make_image(new).map_err(fault)?),
            };
            images.insert(name.clone(), handle);
        }
        let mut compute = DxCompute {
            shader: context.load(asset_path(context.path(), &file.shader)?),
            vectors: file.vectors,
            constants: file.constants,
            images,
            samplers: file.samplers,
            dispatch: file.dispatch.into(),
            run: file.run,
            readback: file.readback,
            ..default()
        };
        for (name, buffer) in &file.buffers {
            let fault = |reason| DxComputeError::Resource { name: name.clone(), reason };
            let handle = context.add_labeled_asset(name.clone(), make_buffer(buffer).map_err(fault)?);
            compute.buffers.insert(name.clone(), handle);
            if let Some(format) = &buffer.format {
                compute.formats.insert(name.clone(), format_named(format).map_err(fault)?);
            }
            if buffer.clear {
                compute.clear.push(name.clone());
            }
        }
        Ok(compute)
    }

    fn extensions(&self) -> &[&str] {
        &["dxcomp.ron", "dxcomp"]
    }
}

fn parse(bytes: &[u8]) -> Result<ComputeFile, DxComputeError> {
    let file: ComputeFile = ron_options().from_str(std::str::from_utf8(bytes)?)?;
    if file.shader.is_empty() { Err(DxComputeError::NoShader) } else { Ok(file) }
}

fn format_named(name: &str) -> Result<TextureFormat, String> {
    storage_format_named(name).ok_or_else(|| format!("`{name}` is no format that a shader can write"))
}

fn make_image(new: &NewImage) -> Result<Image, String> {
    let format = format_named(&new.format)?;
    let ((width, height), depth) = (new.size, new.depth);
    // WebGPU's default limits.
    let limit = if new.volume { 2048 } else { 8192 };
    if [width, height].iter().any(|side| !(1..=limit).contains(side)) || !(1..=2048).contains(&depth) {
        return Err(format!("{width} x {height} x {depth} is no size of an image"));
    }
    Ok(Image {
        data: None,
        texture_descriptor: TextureDescriptor {
            label: None,
            size: Extent3d { width, height, depth_or_array_layers: depth },
            mip_level_count: 1,
            sample_count: 1,
            dimension: if new.volume { TextureDimension::D3 } else { TextureDimension::D2 },
            format,
            usage: TextureUsages::STORAGE_BINDING
                | TextureUsages::TEXTURE_BINDING
                | TextureUsages::COPY_SRC
                | TextureUsages::COPY_DST,
            view_formats: &[],
        },
        sampler: ImageSampler::Default,
        asset_usage: RenderAssetUsages::RENDER_WORLD | RenderAssetUsages::MAIN_WORLD,
        ..default()
    })
}

fn make_buffer(file: &BufferFile) -> Result<ShaderBuffer, String> {
    let mut data = Vec::with_capacity(4 * file.data.len());
    for value in &file.data {
        data.extend_from_slice(&number(file.ty, value)?);
    }
    let size = file.size.unwrap_or(data.len() as u64);
    if size == 0 || size > MAX_BUFFER || !size.is_multiple_of(4) {
        return Err(format!("a buffer of {size} bytes: it needs 4 to {MAX_BUFFER}, a multiple of 4"));
    }
    if data.len() as u64 > size {
        return Err(format!("its data are {} bytes, more than its size of {size}", data.len()));
    }
    data.resize(size as usize, 0);
    let mut buffer = ShaderBuffer::new(&data, RenderAssetUsages::default());
    buffer.buffer_description.usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
    Ok(buffer)
}

fn number(ty: NumberType, value: &ConstantValue) -> Result<[u8; 4], String> {
    let misfit = || format!("{value:?} is no {ty:?}");
    match (ty, value) {
        (NumberType::F32, ConstantValue::Number(Number::Float(float))) => Ok((*float as f32).to_le_bytes()),
        (NumberType::F32, ConstantValue::Number(Number::Integer(integer))) => Ok((*integer as f32).to_le_bytes()),
        (NumberType::U32, ConstantValue::Number(Number::Integer(integer))) => {
            u32::try_from(*integer).map(u32::to_le_bytes).map_err(|_| misfit())
        }
        (NumberType::I32, ConstantValue::Number(Number::Integer(integer))) => {
            i32::try_from(*integer).map(i32::to_le_bytes).map_err(|_| misfit())
        }
        _ => Err(misfit()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_take_data_and_size() {
        let file = |text: &str| ron_options().from_str::<BufferFile>(text).unwrap();
        let buffer = make_buffer(&file("(type: F32, data: [1.5, 2], size: 12)")).unwrap();
        assert_eq!(buffer.data.unwrap(), [0, 0, 0xc0, 0x3f, 0, 0, 0, 0x40, 0, 0, 0, 0]);
        let error = |text: &str| make_buffer(&file(text)).err().unwrap();
        assert!(error("()").contains("0 bytes"));
        assert!(error("(size: 6)").contains("multiple of 4"));
        assert!(error("(size: 1000000000000)").contains("1000000000000"));
        assert!(error("(data: [-1])").contains("no U32"));
        assert!(error("(data: [1, 2], size: 4)").contains("more than its size"));
    }

    #[test]
    fn images_have_formats_and_sizes() {
        let new = |size, format: &str| make_image(&NewImage { size, depth: 1, volume: false, format: format.into() });
        assert_eq!(new((4, 2), "Rgba8Unorm").unwrap().texture_descriptor.format, TextureFormat::Rgba8Unorm);
        assert!(new((4, 2), "Rgba8").err().unwrap().contains("`Rgba8`"));
        assert!(new((0, 2), "Rgba8Unorm").is_err());
    }
}
