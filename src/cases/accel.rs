//! Acceleration structures of a case, built on the device.

use wgpu::BufferUsages;

use super::{
    device::{Gpu, Halt},
    format::{Accel, AccelGeometry, AccelInstance},
    resources::{BufferResource, Resources, new_buffer, write_buffer},
    values::ElementType,
};

/// `D3D12_RAYTRACING_INSTANCE_FLAG_NONE`: wgpu sets no other.
const NO_FLAGS: u32 = 0;

/// Rows of the identity, as Direct3D and wgpu write affine transforms: three of four numbers.
const IDENTITY: [f32; 12] = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0];

/// An acceleration structure that can be bound.
pub struct AccelResource {
    /// Its upper level, which keeps the lower ones.
    pub tlas: wgpu::Tlas,
}

/// The triangles of one geometry on the device.
struct Triangles {
    vertices: wgpu::Buffer,
    indices: Option<wgpu::Buffer>,
    size: wgpu::BlasTriangleGeometrySizeDescriptor,
}

impl AccelResource {
    /// Builds a structure: a lower level for each instance, and an upper one over them.
    ///
    /// # Errors
    /// The device has none, or a buffer that an instance names is not there or not of triangles.
    pub fn new(gpu: &Gpu, name: &str, accel: &Accel, resources: &Resources<'_>) -> Result<Self, Halt> {
        let feature = wgpu::Features::EXPERIMENTAL_RAY_QUERY;
        if !gpu.features().contains(feature) {
            return Err(Halt::Skipped(format!("the device lacks {feature:?}")));
        }
        let mut tlas = gpu.device.create_tlas(&wgpu::CreateTlasDescriptor {
            label: Some(name),
            max_instances: accel.instances.len().max(1) as u32,
            flags: wgpu::AccelerationStructureFlags::PREFER_FAST_TRACE,
            update_mode: wgpu::AccelerationStructureUpdateMode::Build,
        });
        let mut lower = Vec::with_capacity(accel.instances.len());
        for (index, instance) in accel.instances.iter().enumerate() {
            let place = format!("instance {index}");
            let geometries = geometries(gpu, instance, resources).map_err(|halt| halt.within(&place))?;
            let blas = gpu.device.create_blas(
                &wgpu::CreateBlasDescriptor {
                    label: Some(name),
                    flags: wgpu::AccelerationStructureFlags::PREFER_FAST_TRACE,
                    update_mode: wgpu::AccelerationStructureUpdateMode::Build,
                },
                wgpu::BlasGeometrySizeDescriptors::Triangles {
                    descriptors: geometries.iter().map(|triangles| triangles.size.clone()).collect(),
                },
            );
            tlas[index] = Some(upper_instance(&blas, instance).map_err(|halt| halt.within(&place))?);
            lower.push((blas, geometries));
        }
        let entries = lower.iter().map(|(blas, geometries)| wgpu::BlasBuildEntry {
            blas,
            geometry: wgpu::BlasGeometries::TriangleGeometries(geometries.iter().map(Triangles::geometry).collect()),
        });
        let mut encoder = gpu.encoder();
        encoder.build_acceleration_structures(&entries.collect::<Vec<_>>(), [&tlas]);
        gpu.submit(encoder)?;
        Ok(Self { tlas })
    }

    /// A structure without instances, which no ray hits.
    ///
    /// # Errors
    /// The device has none.
    pub fn empty(gpu: &Gpu, resources: &Resources<'_>) -> Result<Self, Halt> {
        Self::new(gpu, "unbound", &Accel { instances: Vec::new() }, resources)
    }
}

impl Triangles {
    fn geometry(&self) -> wgpu::BlasTriangleGeometry<'_> {
        wgpu::BlasTriangleGeometry {
            size: &self.size,
            vertex_buffer: &self.vertices,
            first_vertex: 0,
            vertex_stride: self.size.vertex_format.size(),
            index_buffer: self.indices.as_ref(),
            first_index: self.indices.is_some().then_some(0),
            transform_buffer: None,
            transform_buffer_offset: None,
        }
    }
}

fn upper_instance(blas: &wgpu::Blas, instance: &AccelInstance) -> Result<wgpu::TlasInstance, Halt> {
    if instance.flags != NO_FLAGS {
        return Err(Halt::Skipped("wgpu sets no flags of instances".into()));
    }
    let transform = match &instance.transform {
        None => IDENTITY,
        Some(numbers) => <[f32; 12]>::try_from(numbers.as_slice())
            .map_err(|_| format!("its transform has {} numbers, not 12", numbers.len()))?,
    };
    let mask = u8::try_from(instance.mask).map_err(|_| format!("its mask is above 255: {}", instance.mask))?;
    if instance.id >= 1 << 24 {
        return Err(Halt::Failed(format!("its id has more than 24 bits: {}", instance.id)));
    }
    Ok(wgpu::TlasInstance::new(blas, transform, instance.id, mask))
}

/// The geometries of an instance.
fn geometries(gpu: &Gpu, instance: &AccelInstance, resources: &Resources<'_>) -> Result<Vec<Triangles>, Halt> {
    if instance.aabbs.is_some() {
        return Err(Halt::Skipped("wgpu has no acceleration structures of boxes".into()));
    }
    let own = instance.triangles.as_ref().map(|triangles| AccelGeometry {
        triangles: triangles.clone(),
        indices: instance.indices.clone(),
        opaque: instance.opaque,
    });
    let geometries = own.iter().chain(&instance.geometries).collect::<Vec<_>>();
    if geometries.is_empty() {
        return Err(Halt::Failed("it has neither triangles nor geometries".into()));
    }
    geometries.into_iter().map(|geometry| triangles(gpu, geometry, resources)).collect()
}

/// Vertices of three floats each, and the indices if there are any.
fn triangles(gpu: &Gpu, geometry: &AccelGeometry, resources: &Resources<'_>) -> Result<Triangles, Halt> {
    let vertex_format = wgpu::VertexFormat::Float32x3;
    let vertices = resources.buffer(&geometry.triangles)?;
    if vertices.ty != ElementType::F32 {
        return Err(Halt::Failed(format!("vertices are F32, buffer {} is {:?}", geometry.triangles, vertices.ty)));
    }
    let vertex_count = (vertices.size / vertex_format.size()) as u32;
    let indices = geometry.indices.as_deref().map(|name| Ok::<_, Halt>((name, resources.buffer(name)?))).transpose()?;
    let index_format = match indices {
        None => None,
        Some((_, BufferResource { ty: ElementType::U16, .. })) => Some(wgpu::IndexFormat::Uint16),
        Some((_, BufferResource { ty: ElementType::U32, .. })) => Some(wgpu::IndexFormat::Uint32),
        Some((name, buffer)) => {
            return Err(Halt::Failed(format!("indices are U16 or U32, buffer {name} is {:?}", buffer.ty)));
        }
    };
    let index_count = indices.map(|(_, buffer)| (buffer.size / buffer.ty.size() as u64) as u32);
    let flags = match geometry.opaque {
        true => wgpu::AccelerationStructureGeometryFlags::OPAQUE,
        false => wgpu::AccelerationStructureGeometryFlags::empty(),
    };
    Ok(Triangles {
        vertices: copy(gpu, vertices)?,
        indices: indices.map(|(_, buffer)| copy(gpu, buffer)).transpose()?,
        size: wgpu::BlasTriangleGeometrySizeDescriptor {
            vertex_format,
            vertex_count,
            index_format,
            index_count,
            flags,
        },
    })
}

/// A copy that structures can be built from.
fn copy(gpu: &Gpu, buffer: &BufferResource) -> Result<wgpu::Buffer, Halt> {
    let bytes = gpu.read_buffer(&buffer.buffer, buffer.size)?;
    let copy = new_buffer(gpu, "geometry", buffer.size, BufferUsages::BLAS_INPUT | BufferUsages::COPY_DST);
    write_buffer(gpu, &copy, &bytes);
    Ok(copy)
}
