//! Views of parts against what the HLSL says that the compilers were given: `tests/fixtures/container`.

use std::io::Write as _;

use super::*;

macro_rules! fixture {
    ($name:literal) => {
        include_bytes!(concat!("../../tests/fixtures/container/", $name))
    };
}

fn part(bytes: &'static [u8], name: FourCc) -> Part<'static> {
    Container::parse(bytes).unwrap().part(name).unwrap()
}

#[test]
fn root_signature() {
    let signature = RootSignature::parse(part(fixture!("root_signature.dxil"), FourCc::RTS0)).unwrap();
    assert_eq!(signature.version, RootSignatureVersion::V1_1);
    assert_eq!(signature.flags.to_string(), "AllowInputAssemblerInputLayout | DenyHullShaderRootAccess");
    let [constants, words, buffer, resources, samplers] = &signature.parameters[..] else { panic!("{signature:#?}") };
    let descriptor = |register, flags| RootDescriptor { register, space: 0, flags };
    assert_eq!(constants.kind, RootParameterKind::Cbv(descriptor(0, RootDescriptorFlags::DATA_STATIC)));
    assert_eq!(words.visibility, ShaderVisibility::PIXEL);
    assert_eq!(words.kind, RootParameterKind::Constants { register: 1, space: 1, count: 3 });
    assert_eq!(buffer.kind, RootParameterKind::Srv(descriptor(5, RootDescriptorFlags(0))));
    let range = |ty, count, register, flags, offset| DescriptorRange { ty, count, register, space: 0, flags, offset };
    let volatile = DescriptorRangeFlags(3);
    assert_eq!(
        resources.kind,
        RootParameterKind::DescriptorTable(vec![
            range(DescriptorRangeType::SRV, Some(4), 0, volatile, None),
            range(DescriptorRangeType::UAV, None, 0, DescriptorRangeFlags(0), Some(7)),
        ])
    );
    let pair = range(DescriptorRangeType::SAMPLER, Some(2), 1, DescriptorRangeFlags(0), None);
    assert_eq!(samplers.kind, RootParameterKind::DescriptorTable(vec![pair]));
    let [sampler] = &signature.static_samplers[..] else { panic!("{signature:#?}") };
    assert_eq!((sampler.filter, sampler.address_u), (Filter::ANISOTROPIC, TextureAddressMode::CLAMP));
    assert_eq!((sampler.mip_lod_bias, sampler.min_lod, sampler.max_lod), (1.5, 2.0, 9.0));
    assert_eq!((sampler.max_anisotropy, sampler.register, sampler.space), (8, 0, 3));
    assert_eq!(sampler.border_color, StaticBorderColor::OPAQUE_WHITE);
    assert_eq!((sampler.comparison, sampler.visibility), (ComparisonFunction::LESS, ShaderVisibility::PIXEL));
}

/// What dxc writes has version 1.1: the same in the records of the two other versions.
#[test]
fn root_signature_versions() {
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
    for version in 1..=3 {
        // Header; a descriptor table and a UAV; the table, its range, the descriptor; a sampler.
        let mut data = words(&[version, 2, 24, 1, 0, 1, 0, 5, 48, 4, 0, 0, 1, 56]);
        data.extend(words(&if version == 1 { vec![1, 2, 3, 4, 6] } else { vec![1, 2, 3, 4, 8, 6] }));
        let descriptor = data.len() as u32;
        data[44..48].copy_from_slice(&descriptor.to_le_bytes());
        data.extend(words(if version == 1 { &[7, 8] } else { &[7, 8, 2] }));
        let sampler = data.len() as u32;
        data[16..20].copy_from_slice(&sampler.to_le_bytes());
        data.extend(words(&[0x95, 1, 2, 3, 0, 1, 4, 1, 0, 0, 9, 10, 5]));
        if version == 3 {
            data.extend(words(&[2]));
        }
        let part = Part { name: FourCc::RTS0, offset: 0, data: &data };
        let signature = RootSignature::parse(part).unwrap();
        assert_eq!(signature.version.to_string(), format!("1.{}", version - 1));
        let flags = DescriptorRangeFlags(if version == 1 { 0 } else { 8 });
        let range = DescriptorRange {
            ty: DescriptorRangeType::UAV,
            count: Some(2),
            register: 3,
            space: 4,
            flags,
            offset: Some(6),
        };
        assert_eq!(signature.parameters[0].kind, RootParameterKind::DescriptorTable(vec![range]));
        let flags = RootDescriptorFlags(if version == 1 { 0 } else { 2 });
        let descriptor = RootDescriptor { register: 7, space: 8, flags };
        assert_eq!(signature.parameters[1].kind, RootParameterKind::Uav(descriptor));
        let sampler = &signature.static_samplers[0];
        assert_eq!((sampler.filter, sampler.register), (Filter::COMPARISON_MIN_MAG_MIP_LINEAR, 9));
        let flags = SamplerFlags(if version == 3 { 2 } else { 0 });
        assert_eq!((sampler.visibility, sampler.flags), (ShaderVisibility::PIXEL, flags));
        for len in 0..data.len() {
            let error = RootSignature::parse(Part { data: &data[..len], ..part }).unwrap_err();
            assert!(error.place.part == Some(FourCc::RTS0) && error.place.offset.is_some(), "{error}");
        }
    }
}

#[test]
fn pipeline_state_tables() {
    let state = PipelineState::parse(part(fixture!("root_signature.dxil"), FourCc::PSV0)).unwrap();
    assert_eq!(state.version(), 3);
    let resources = state.resources().unwrap().map(Result::unwrap).collect::<Vec<_>>();
    assert_eq!((resources[0].ty, resources[1].kind), (PipelineResourceType::CBV, Some(DxilResourceKind::TEXTURE_2D)));
    let tables = state.tables().unwrap().unwrap();
    let uv = &tables.inputs[1];
    assert_eq!((&uv.semantic[..], &uv.semantic_indices[..]), ("TEXCOORD", &[3][..]));
    assert_eq!((uv.allocated, uv.row, uv.column, uv.columns), (true, 1, 0, 2));
    assert_eq!((tables.inputs[0].kind, tables.outputs[0].kind), (SemanticKind::POSITION, SemanticKind::TARGET));
    // Colour depends on the view and on the texture coordinate; alpha is constant.
    let components = |mask: &ComponentMask| (0..8).filter(|&component| mask.contains(component)).collect::<Vec<_>>();
    assert_eq!(components(&tables.view_id_to_outputs[0].mask), [0, 1, 2]);
    let masks = &tables.input_to_outputs[0].dependencies.0;
    let influences = masks.iter().map(components).collect::<Vec<_>>();
    assert_eq!(influences[..4], [const { Vec::<usize>::new() }; 4], "the position");
    assert_eq!(influences[4..], [vec![0, 1, 2], vec![0, 1, 2], vec![], vec![]]);
    assert_eq!(tables.trailing, 0);
}

#[test]
fn library() {
    let data = RuntimeData::parse(part(fixture!("library.dxil"), FourCc::RDAT)).unwrap();
    let written = &data.resources[0];
    assert_eq!((&written.name[..], written.class, written.space), ("written", DxilResourceClass::UAV, 2));
    let function = |name: &str| data.functions.iter().find(|function| function.unmangled_name == name).unwrap();
    let closest = function("closest");
    assert_eq!((closest.payload_size, closest.attribute_size), (16, 8));
    assert_eq!((closest.kind, closest.stages), (ShaderKind::CLOSEST_HIT, StageMask::CLOSEST_HIT));
    assert_eq!(function("store").resources, std::slice::from_ref(written));
    assert!(function("missed").name.contains("?missed@@"));

    let subobject = |name: &str| &data.subobjects.iter().find(|subobject| subobject.name == name).unwrap().kind;
    assert_eq!(data.subobjects.len(), 8);
    let signature = subobject("global_signature").root_signature().unwrap().unwrap();
    assert_eq!((signature.parameters.len(), signature.static_samplers.len()), (1, 1));
    let signature = subobject("local_signature").root_signature().unwrap().unwrap();
    assert_eq!(signature.flags, RootSignatureFlags::LOCAL_ROOT_SIGNATURE);
    let exports = vec!["closest".into(), "missed".into()];
    let association = SubobjectKind::ExportsAssociation { subobject: "local_signature".into(), exports };
    assert_eq!(*subobject("association"), association);
    let config = SubobjectKind::RaytracingShaderConfig { max_payload_size: 16, max_attribute_size: 8 };
    assert_eq!(*subobject("shader_config"), config);
    let config = SubobjectKind::RaytracingPipelineConfig { max_recursion_depth: 2 };
    assert_eq!(*subobject("pipeline_config"), config);
    let flags = RaytracingPipelineFlags::SKIP_TRIANGLES;
    let config = SubobjectKind::RaytracingPipelineConfig1 { max_recursion_depth: 3, flags };
    assert_eq!(*subobject("pipeline_config1"), config);
    let SubobjectKind::HitGroup { ty, any_hit, closest_hit, .. } = subobject("hit_group") else { panic!() };
    assert_eq!((*ty, &any_hit[..], &closest_hit[..]), (HitGroupType::TRIANGLE, "", "closest"));
    let config = SubobjectKind::StateObjectConfig(StateObjectFlags::ALLOW_LOCAL_DEPENDENCIES);
    assert_eq!(*subobject("config"), config);

    let version = CompilerVersion::parse(part(fixture!("library.dxil"), FourCc::VERS)).unwrap();
    assert_eq!((version.major, version.minor, &version.custom[..]), (1, 8, "1.8.2502.8"));
}

#[test]
fn work_graph() {
    let data = RuntimeData::parse(part(fixture!("work_graph.dxil"), FourCc::RDAT)).unwrap();
    let node = |name: &str| {
        let function = data.functions.iter().find(|function| function.name == name).unwrap();
        (function.flags, function.node.as_ref().unwrap())
    };
    let id = |name: &'static str, index| NodeId { name: name.into(), index };
    let (flags, first) = node("first");
    assert_eq!((flags, first.launch), (ShaderFlags::NODE_PROGRAM_ENTRY, NodeLaunch::BROADCASTING));
    let attributes = [
        FunctionAttribute::Id(id("first", 0)),
        FunctionAttribute::NumThreads(vec![16, 2, 1]),
        FunctionAttribute::MaxDispatchGrid(vec![8, 1, 1]),
    ];
    assert_eq!(first.attributes, attributes);
    let kinds = first.outputs.iter().map(|output| output.kind).collect::<Vec<_>>();
    assert_eq!(kinds, [NodeIoKind::NODE_OUTPUT, NodeIoKind::NODE_OUTPUT_ARRAY, NodeIoKind::EMPTY_OUTPUT]);
    let several = &first.outputs[1].attributes;
    for attribute in [
        NodeIoAttribute::OutputId(id("third", 1)),
        NodeIoAttribute::OutputArraySize(3),
        NodeIoAttribute::MaxRecords(2),
        NodeIoAttribute::RecordSize(4),
    ] {
        assert!(several.contains(&attribute), "{attribute:?} of {several:?}");
    }
    let grid = DispatchGridField { offset: 0, components: 3, ty: DxilComponentType::U32 };
    assert!(first.inputs[0].attributes.contains(&NodeIoAttribute::RecordDispatchGrid(grid)));
    assert_eq!(node("second").1.launch, NodeLaunch::THREAD);
    let (_, nothing) = node("nothing");
    assert_eq!((nothing.launch, nothing.inputs[0].kind), (NodeLaunch::COALESCING, NodeIoKind::EMPTY_INPUT));
    assert!(nothing.inputs[0].attributes.contains(&NodeIoAttribute::MaxRecords(8)));
    let (_, third) = node("third");
    assert_eq!(third.inputs[0].kind, NodeIoKind::RW_THREAD_NODE_INPUT_RECORD);
    assert_eq!(third.attributes[0], FunctionAttribute::Id(id("third", 1)));
}

/// The numbers are those of `fxc -reflect`.
#[test]
fn statistics() {
    let statistics = |bytes| Statistics::parse(part(bytes, FourCc::STAT)).unwrap();
    let geometry = statistics(fixture!("geometry.dxbc"));
    assert_eq!((geometry.instructions, geometry.temp_registers, geometry.declarations), (20, 1, 5));
    assert_eq!((geometry.float_instructions, geometry.int_instructions, geometry.uint_instructions), (1, 3, 1));
    assert_eq!((geometry.static_flow_control, geometry.dynamic_flow_control), (1, 1));
    assert_eq!((geometry.temp_arrays, geometry.array_instructions), (4, 5));
    assert_eq!((geometry.cut_instructions, geometry.emit_instructions), (1, 1));
    assert_eq!((geometry.input_primitive, geometry.geometry_output_topology), (3, 5));
    assert_eq!((geometry.geometry_max_output_vertices, geometry.shader_model_5.unwrap().geometry_instances), (7, 3));
    let hull = statistics(fixture!("hull.dxbc")).shader_model_5.unwrap();
    assert_eq!((hull.control_points, hull.hull_output_primitive), (4, 3));
    assert_eq!((hull.hull_partitioning, hull.tessellator_domain), (3, 2));
    let compute = statistics(fixture!("compute.dxbc"));
    assert_eq!((compute.texture_load_instructions, compute.conversion_instructions), (1, 1));
    let compute = compute.shader_model_5.unwrap();
    assert_eq!((compute.barrier_instructions, compute.interlocked_instructions), (2, 2));
    assert_eq!(compute.texture_store_instructions, 1);
}

#[test]
fn function_library() {
    let header = LibraryHeader::parse(part(fixture!("functions.dxbc"), FourCc::LIBH)).unwrap();
    assert_eq!(header.functions[0].name, "shade");
    let function = Container::parse(part(fixture!("functions.dxbc"), FourCc::LIBF).data).unwrap();
    let parameters = FunctionParameters::parse(function.part(FourCc::LFS0).unwrap()).unwrap().parameters;
    let names = parameters.iter().map(|parameter| &parameter.name[..]).collect::<Vec<_>>();
    assert_eq!(names, ["shade", "color", "amount"]);
    assert_eq!((parameters[0].flags, parameters[2].flags), (ParameterFlags::OUT, ParameterFlags::IN));
    assert_eq!((parameters[1].columns, parameters[2].columns), (4, 1));
    assert!(parameters[0].input.is_none() && parameters[1].input.is_some() && parameters[1].output.is_none());
}

#[test]
fn interfaces() {
    let interfaces = Interfaces::parse(part(fixture!("classes.dxbc"), FourCc::IFCE)).unwrap();
    let ty = |name: &str| interfaces.types.iter().position(|ty| ty.name == name).unwrap() as u16;
    let instance = |name: &str| interfaces.instances.iter().find(|instance| instance.name == name).unwrap();
    assert_eq!((instance("ambient").ty, instance("ambient").constant_buffer_offset), (ty("Ambient"), 0));
    assert_eq!((instance("bright").ty, instance("bright").constant_buffer_offset), (ty("Bright"), 1));
    assert_eq!((interfaces.slots[0].span, interfaces.slots[0].type_ids.len()), (1, 2));
}

#[test]
fn level_9() {
    let program = Level9Program::parse(part(fixture!("level9.dxbc"), FourCc::AON9)).unwrap();
    assert_eq!(program.version, 0xfffe_0200);
    let constants =
        ConstantMapping { buffer: 0, register: 0, count: 4, constant: 1, conversions: [DataConversion::FLOAT; 4] };
    assert_eq!(program.constants, [constants]);
    assert_eq!(program.runtime_constants, [RuntimeConstant { source: 0, constant: 0 }]);
    assert!(program.tokens.0.starts_with(&[0, 2, 0xfe, 0xff]) && program.tokens.0.ends_with(&[0xff, 0xff, 0, 0]));
}

/// As `fxc -Fc` lists the mappings.
#[test]
fn level_9_mappings() {
    let program = Level9Program::parse(part(fixture!("level9_pixel.dxbc"), FourCc::AON9)).unwrap();
    let conversions = ["int", "bool", "float", "float"];
    assert_eq!(program.constants[0].conversions.map(|conversion| conversion.to_string()), conversions);
    let sampler = |texture, target| SamplerMapping { texture, sampler: 2, target };
    assert_eq!(program.samplers, [sampler(1, 0), sampler(3, 1)]);
}

/// No compiler at hand writes `PDBI`: one made from its definition.
#[test]
fn pdb_info() {
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
    let texts = b"\0a.hlsl\0float4 main()\0E\0main\0out.pdb\0lib\0".to_vec();
    let text = |text: &str| {
        let place = texts.windows(text.len() + 1).position(|place| place == [text.as_bytes(), b"\0"].concat());
        place.unwrap() as u32
    };
    // Arrays: of source 0, of library 0, of two texts.
    let arrays = words(&[1, 0, 1, 0, 2, text("E"), text("main")]);
    let raw = b"hashDXBC".to_vec();
    let record = words(&[0, 2, 4, 0, 4, text("out.pdb"), 7, 0, 0, 4, 4]);
    let table = |record: &[u8]| [&words(&[1, record.len() as u32])[..], record].concat();
    let tables = [
        (TableKind::STRING_BUFFER, texts.clone()),
        (TableKind::INDEX_ARRAYS, arrays),
        (TableKind::RAW_BYTES, raw),
        (TableKind::PDB_INFO, table(&record)),
        (TableKind::PDB_INFO_SOURCE, table(&words(&[text("a.hlsl"), text("float4 main()")]))),
        (TableKind::PDB_INFO_LIBRARY, table(&words(&[text("lib"), 4, 4]))),
    ];
    let mut data = words(&[0x10, tables.len() as u32]);
    let mut body = Vec::new();
    for (kind, contents) in &tables {
        data.extend(words(&[(8 + 4 * tables.len() + body.len()) as u32]));
        body.extend(words(&[kind.0, contents.len() as u32]));
        body.extend(contents);
    }
    data.extend(body);

    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(&data).unwrap();
    let compressed = encoder.finish().unwrap();
    for (compression, stored) in [(0, &data), (1, &compressed)] {
        let mut bytes = words(&[compression << 16, stored.len() as u32, data.len() as u32]);
        bytes.extend(stored);
        let part = Part { name: FourCc::PDBI, offset: 0, data: &bytes };
        let read = PdbInfoPart::parse(part).unwrap();
        let info = read.info().unwrap().unwrap();
        assert_eq!((&info.sources[0].name[..], &info.sources[0].contents[..]), ("a.hlsl", "float4 main()"));
        assert_eq!((&info.libraries[0].name[..], &info.libraries[0].data.0[..]), ("lib", &b"DXBC"[..]));
        assert_eq!(info.arguments, ["E", "main"]);
        assert_eq!((&info.hash.0[..], &info.name[..], info.toolchain_id), (&b"hash"[..], "out.pdb", 7));
        assert_eq!(info.whole_dxil.0[..], *b"DXBC");
        for len in 0..bytes.len() {
            assert!(PdbInfoPart::parse(Part { data: &bytes[..len], ..part }).is_err(), "{len}");
        }
    }
    // Data that would grow beyond what zlib can say are not even begun.
    let mut bytes = words(&[1 << 16, compressed.len() as u32, u32::MAX]);
    bytes.extend(&compressed);
    let part = Part { name: FourCc::PDBI, offset: 0, data: &bytes };
    assert_eq!(PdbInfoPart::parse(part).unwrap_err().place.offset, Some(12));
}

/// Records that share one long text or array must not make a small part large.
#[test]
fn sharing_is_bounded() {
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
    let functions = 2000;
    let mut arrays = words(&[functions]);
    arrays.extend(words(&vec![0; functions as usize]));
    let mut data = words(&[0x10, 3, 20, 20 + 8 + 4, 20 + 8 + 4 + 8 + arrays.len() as u32]);
    data.extend(words(&[TableKind::STRING_BUFFER.0, 4, 0]));
    data.extend(words(&[TableKind::INDEX_ARRAYS.0, arrays.len() as u32]));
    data.extend(arrays);
    data.extend(words(&[TableKind::FUNCTION.0, 8 + 44 * functions, functions, 44]));
    for _ in 0..functions {
        data.extend(words(&[0, 0, u32::MAX, 0, 6, 0, 0, 0, 0, 0, 0]));
    }
    let error = RuntimeData::parse(Part { name: FourCc::RDAT, offset: 0, data: &data }).unwrap_err();
    assert!(error.what.contains("share"), "{error}");
}
