//! DXIL: LLVM 3.7 bitcode of Shader Model 6.0 and later, to IR.
//!
//! bytes -> [`bitcode`] (blocks and records) -> [`module`] (types, values, functions, metadata) -> `reflect`
//! (the [`Interface`]) and `lower` (the IR), which takes the operations of `op`; or `disassembly` (LLVM assembly).

pub mod bitcode;
mod disassembly;
mod lower;
pub mod module;
mod modules;
mod names;
mod op;
mod reflect;

#[cfg(test)]
pub(crate) use op::markdown as coverage_markdown;

use crate::{
    Error, ErrorKind, Result,
    container::{Bitcode, Container, FourCc, Part, ProgramHeader},
    lift::{LiftOptions, Note, Program},
    reflection::{Interface, Stage},
};

/// The operation that takes a resource from a descriptor heap.
const HEAP_HANDLE: &str = "dx.op.createHandleFromHeap";

/// Reads what a container tells of its DXIL programs: stage, signatures, bindings, layouts.
///
/// # Errors
/// [`ErrorKind::NotAProgram`] if there is no DXIL; else names the record or metadata
/// that contradicts the format.
pub fn reflect(container: &Container<'_>) -> Result<Interface> {
    // Code alone tells what a program takes from descriptor heaps, and in old files which components it uses.
    let (bitcode, module) = modules::program_with_bodies_if(container, |declared| {
        !reflect::knows_usage(declared) || declared.functions.iter().any(|function| function.name == HEAP_HANDLE)
    })?;
    // A stripped program may lie beside its copy with debug information.
    let names = match modules::reflection(container)? {
        None if bitcode.part.name != FourCc::ILDB => modules::debug_declarations(container)?,
        names => names,
    };
    reflect::interface(&bitcode, &module, names.as_ref()).map_err(|error| error.in_part(bitcode.part.name))
}

/// Reads what the module without code tells that dxc keeps for reflection (`STAT`), where there is one.
///
/// # Errors
/// Names the record or metadata that contradicts the format.
pub(crate) fn reflect_twin(container: &Container<'_>) -> Result<Option<Interface>> {
    let Some((bitcode, module)) = modules::reflection_program(container)? else { return Ok(None) };
    reflect::interface(&bitcode, &module, None).map(Some).map_err(|error| error.in_part(bitcode.part.name))
}

/// Lowers the programs of a container (`DXIL` part). `interface` is what [`crate::reflection::reflect`] read.
///
/// Of a library without entry points, and by name, the functions are lowered that other libraries may call. What their
/// parameters point to, and results that are more than a vector, are variables that they share with their caller, named
/// `FUNCTION_parameterN` and `FUNCTION_result`, in words.
///
/// # Errors
/// Names the instruction that has no lowering, or the record that contradicts the format.
pub fn lift(container: &Container<'_>, mut interface: Interface, options: &LiftOptions) -> Result<Program> {
    let (bitcode, module) = modules::program(container)?;
    let mut exports = Vec::new();
    match &options.entry {
        Some(entry) if interface.stage == Stage::Library => {
            interface.entry_points.retain(|described| described.name == *entry);
            if interface.entry_points.is_empty() {
                exports = exported(&module, |name| name == entry);
            }
            if interface.entry_points.is_empty() && exports.is_empty() {
                let what = format!("the library has no such entry point or function: {entry}");
                return Err(Error::new(ErrorKind::Mismatch, what));
            }
        }
        _ if interface.entry_points.is_empty() => {
            exports = exported(&module, |_| true);
            if exports.is_empty() {
                return Err(Error::new(ErrorKind::NotAProgram, "the library has no entry points and no functions"));
            }
        }
        _ => {}
    }
    let (names, unreadable) = match modules::debug(container) {
        Ok(Some(copy)) => (names::LocalNames::of(&copy), None),
        // Old compilers left the debug information in the program.
        Ok(None) => (names::LocalNames::of(&module), None),
        Err(error) => (names::LocalNames::default(), Some(error)),
    };
    let lowered = lower::lower(&module, &interface, &exports, &names);
    let (ir, mut notes) = lowered.map_err(|error| error.in_part(bitcode.part.name))?;
    notes.extend(unreadable.map(|error| Note::new(format!("debug information cannot be read: {error}"))));
    Ok(Program { ir, interface, notes })
}

/// Functions of a library that other libraries may call, of some undecorated names.
fn exported(module: &module::Module, is_wanted: impl Fn(&str) -> bool) -> Vec<module::FunctionId> {
    let functions = (0..).map(module::FunctionId).zip(&module.functions);
    let is_export = |function: &module::Function| function.body.is_some() && !function.symbol.linkage.is_local();
    let wanted = functions.filter(|(_, it)| is_export(it) && is_wanted(reflect::undecorated(&it.name)));
    wanted.map(|(id, _)| id).collect()
}

/// The program of a container as LLVM assembly, in the spelling of `dxc -dumpbin`. As there, the program with debug
/// information (`ILDB` part) is taken where there is one. Comments in front of the module tell of features, signatures,
/// buffers and bindings.
///
/// # Errors
/// [`ErrorKind::NotAProgram`] if there is no DXIL; else names the record that contradicts the format, or the
/// construct that no DXIL has.
pub fn disassemble(container: &Container<'_>) -> Result<String> {
    let bitcode = match container.part(FourCc::ILDB) {
        Some(part) => Bitcode::parse(part)?,
        None => match ProgramHeader::find(container)? {
            ProgramHeader::Bitcode(bitcode) => bitcode,
            ProgramHeader::Tokens(_) => return Err(Error::new(ErrorKind::NotAProgram, "the program is not DXIL")),
        },
    };
    let module = modules::read(&bitcode)?;
    let listing = disassembly::disassemble(&module).map_err(|error| error.in_part(bitcode.part.name))?;
    let names = modules::reflection(container)?;
    let interface = reflect::interface(&bitcode, &module, names.as_ref());
    let resources = names.as_ref().unwrap_or(&module);
    Ok(disassembly::preamble(container, &module, resources, &interface) + &listing)
}

/// LLVM bitcode that is in no container as LLVM assembly, in the spelling of `dxc -dumpbin`: from its magic `BC C0 DE` on,
/// or with the headers of a program part.
///
/// # Errors
/// As for [`disassemble`].
pub fn disassemble_bitcode(bytes: &[u8]) -> Result<String> {
    if Bitcode::recognizes(bytes) {
        return disassembly::disassemble(&module::Module::read(bytes)?);
    }
    let part = Part { name: FourCc::DXIL, offset: 0, data: bytes };
    let bitcode = Bitcode::parse(part)?;
    disassembly::disassemble(&modules::read(&bitcode)?).map_err(|error| error.in_part(part.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ir::{Op, VariableSpace},
        reflection::{HEAP_SPACE, ResourceClass, ResourceKind, TextureDimension, UavFlags},
    };

    use naga::valid::{Capabilities, ValidationFlags, Validator};

    fn lifted(bytes: &[u8], entry: Option<&str>) -> Result<Program> {
        let container = Container::parse(bytes)?;
        let interface = crate::reflection::reflect(&container)?;
        let program =
            lift(&container, interface, &LiftOptions { entry: entry.map(str::to_owned), ..Default::default() })?;
        crate::ir::verify(&program.ir, &program.interface)?;
        Ok(program)
    }

    /// Reflection passes over code that tells it nothing, and reads that which does.
    #[test]
    fn reflection_is_that_of_the_whole_module() {
        let fixtures: [&[u8]; 5] = [
            include_bytes!("../../tests/fixtures/reflection/resources.dxil"),
            include_bytes!("../../tests/fixtures/reflection/patch.dxil"),
            include_bytes!("../../tests/fixtures/dxil/heap.dxil"),
            include_bytes!("../../tests/fixtures/dxil/rays.dxil"),
            include_bytes!("../../tests/fixtures/mesh/meshlets.ms.dxil"),
        ];
        for bytes in fixtures {
            let container = Container::parse(bytes).unwrap();
            let (bitcode, module) = modules::program(&container).unwrap();
            let names = modules::reflection_program(&container).unwrap().map(|(_, module)| module);
            let whole = reflect::interface(&bitcode, &module, names.as_ref()).unwrap();
            assert_eq!(reflect(&container).unwrap(), whole);
            let (_, passed_over) = modules::program_with_bodies_if(&container, |_| false).unwrap();
            assert!(passed_over.functions.iter().all(|function| function.body.is_none()));
            assert!(module.functions.iter().any(|function| function.body.is_some()));
            let (_, read) = modules::program_with_bodies_if(&container, |_| true).unwrap();
            let bodies =
                |module: &module::Module| module.functions.iter().filter(|function| function.body.is_some()).count();
            assert_eq!(bodies(&read), bodies(&module));
        }
    }

    #[test]
    fn each_kind_of_a_heap_is_a_binding() {
        let bytes = include_bytes!("../../tests/fixtures/dxil/heap.dxil");
        let interface = reflect(&Container::parse(bytes).unwrap()).unwrap();
        let heap: Vec<_> = interface.bindings.iter().filter(|binding| binding.is_heap()).collect();
        assert_eq!(interface.bindings.len(), heap.len() + 1);
        assert!(heap.iter().zip(HEAP_SPACE..).all(|(binding, space)| binding.space == space));
        let mut kinds: Vec<_> = heap.iter().map(|binding| (binding.class, binding.kind)).collect();
        kinds.sort_by_key(|(class, kind)| (*class, format!("{kind:?}")));
        let [(ResourceClass::Srv, color), (ResourceClass::Srv, mask), (ResourceClass::Uav, output), (sampler, _)] =
            kinds[..]
        else {
            panic!("{kinds:?}");
        };
        assert!(matches!(color, ResourceKind::Texture { dimension: TextureDimension::D2, components: 4, .. }));
        assert!(matches!(mask, ResourceKind::Texture { dimension: TextureDimension::D2, components: 1, .. }));
        let flags = UavFlags::default();
        assert_eq!(output, ResourceKind::StructuredBuffer { stride: 20, counter: false, flags });
        assert_eq!(sampler, ResourceClass::Sampler);

        let program = lifted(bytes, None).unwrap();
        let function = &program.ir.functions[0];
        let non_uniform =
            |value: &&crate::ir::Value| matches!(function.op(**value), Some(Op::Handle { non_uniform: true, .. }));
        let handles = function.blocks.iter().flat_map(|block| &block.insts);
        assert_eq!(handles.filter(non_uniform).count(), 1);
    }

    #[test]
    fn names_are_in_the_copy_with_debug_information() {
        let bytes = include_bytes!("../../tests/fixtures/container/root_signature.dxil");
        let without = |parts: &[FourCc]| {
            let mut writer = crate::container::ContainerWriter::from_container(&Container::parse(bytes).unwrap());
            for &part in parts {
                writer.remove(part);
            }
            let bytes = writer.write().unwrap();
            let bindings = crate::reflect(&bytes).unwrap().bindings;
            bindings.into_iter().map(|binding| (binding.name, binding.layout)).collect::<Vec<_>>()
        };
        let full = without(&[]);
        let copied = without(&[FourCc::STAT]);
        let names = |of: &[(Option<String>, _)]| of.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&copied), names(&full));
        assert!(copied.iter().zip(&full).all(|(copy, full)| copy.1.is_some() == full.1.is_some()));
        assert_eq!(names(&without(&[FourCc::STAT, FourCc::ILDB])), [None, None]);
    }

    #[test]
    fn functions_are_called() {
        let program = lifted(include_bytes!("../../tests/fixtures/dxil/functions.dxil"), None).unwrap();
        let mut names: Vec<_> = program.ir.functions.iter().map(|function| function.name.as_str()).collect();
        names.sort();
        assert_eq!(names, ["main", "mixed", "square", "turned"]);
    }

    #[test]
    fn memory_that_is_seen_as_another_type_is_words() {
        let program = lifted(include_bytes!("../../tests/fixtures/dxil/float_exchange.dxil"), None).unwrap();
        let [slots] = &program.ir.variables[..] else { panic!("{:?}", program.ir.variables) };
        assert_eq!((slots.space, slots.element, slots.len), (VariableSpace::GroupShared, crate::ir::Type::I32, 8));
        assert_eq!(slots.name, "slots");
    }

    #[test]
    fn ray_tracing_stages_share_variables_with_their_caller() {
        let program = lifted(include_bytes!("../../tests/fixtures/dxil/rays.dxil"), None).unwrap();
        let words = |name: &str| {
            let mut found = program.ir.variables.iter().filter(|variable| variable.name == name);
            let variable = found.next().unwrap_or_else(|| panic!("no variable: {name}"));
            assert_eq!((variable.space, variable.element), (VariableSpace::Interface, crate::ir::Type::I32), "{name}");
            assert!(found.next().is_none(), "{name}");
            variable.len
        };
        for stage in ["any_hit", "closest_hit", "missed"] {
            assert_eq!(words(&format!("{stage}_payload")), 7);
        }
        assert_eq!(words("called_parameter"), 7);
        assert_eq!(words("any_hit_attributes"), 2);
        assert_eq!((words("trace_ray_operands"), words("trace_ray_payload")), (15, 7));
        assert_eq!((words("call_shader_operands"), words("call_shader_parameter")), (1, 7));
        assert_eq!((words("report_hit_operands"), words("report_hit_attributes")), (2, 2));
        assert_eq!((words("object_to_world"), words("dispatch_rays_index")), (12, 3));

        // What an any-hit shader decides ends it, where LLVM's blocks have no way out.
        let any_hit = program.ir.functions.iter().find(|function| function.name == "any_hit").unwrap();
        let mut decisions = Vec::new();
        for block in &any_hit.blocks {
            for &inst in &block.insts {
                if let Some(&Op::StoreVariable { variable, value, .. }) = any_hit.op(inst)
                    && program.ir.variables[variable.index()].name == "hit_decision"
                {
                    decisions.push(any_hit.as_scalar_constant(value).unwrap());
                    let ends = matches!(block.terminator, crate::ir::Terminator::Return(None));
                    assert_eq!(ends, decisions.last() != Some(&0));
                }
            }
        }
        decisions.sort();
        assert_eq!(decisions, [0, 1, 2]);

        let emitted = program.emit(&crate::lift::Target::default()).unwrap();
        assert!(emitted.module.entry_points.is_empty());
        assert_eq!(emitted.module.functions.len(), 6 + 3);
    }

    #[test]
    fn ray_queries_are_nagas() {
        let program = lifted(include_bytes!("../../tests/fixtures/dxil/ray_query.dxil"), None).unwrap();
        let text = program.ir.to_string();
        assert_eq!(crate::ir::text::parse(&text).unwrap().to_string(), text);
        let target = crate::lift::Target::default();
        let target = |capabilities| crate::lift::Target { capabilities, ..target.clone() };
        let error = program.emit(&target(Capabilities::empty())).unwrap_err();
        assert!(error.what.contains("ray queries"), "{error}");

        let module = program.emit(&target(Capabilities::RAY_QUERY)).unwrap().module;
        let mut validator = Validator::new(ValidationFlags::all(), Capabilities::RAY_QUERY);
        let info = validator.validate(&module).unwrap();
        let spirv = naga::back::spv::write_vec(&module, &info, &Default::default(), None).unwrap();
        // Instructions of SPIR-V: the number of words above, the operation below.
        let mut rest = &spirv[5..];
        let mut operations = std::collections::HashSet::new();
        while let [first, ..] = rest {
            operations.insert(first & 0xffff);
            rest = &rest[(first >> 16) as usize..];
        }
        // OpRayQueryInitializeKHR, GenerateIntersection, ConfirmIntersection, Proceed.
        assert!([4473, 4475, 4476, 4477].iter().all(|operation| operations.contains(operation)));
    }

    /// The module for a target that has everything, which naga accepts.
    fn valid(program: &Program) -> naga::Module {
        let module = program.emit(&crate::lift::Target::default()).unwrap().module;
        Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module).unwrap();
        module
    }

    #[test]
    fn acceleration_structures_are_chosen_by_a_switch() {
        let program = lifted(include_bytes!("../../tests/fixtures/dxil/heap_rays.dxil"), None).unwrap();
        let module = valid(&program);
        let mut sizes = Vec::new();
        fn switches(block: &naga::Block, sizes: &mut Vec<usize>) {
            for statement in block {
                if let naga::Statement::Switch { cases, .. } = statement {
                    let begins = |case: &naga::SwitchCase| {
                        matches!(
                            case.body.last(),
                            Some(naga::Statement::RayQuery { fun: naga::RayQueryFunction::Initialize { .. }, .. })
                        )
                    };
                    assert!(cases.iter().all(begins));
                    sizes.push(cases.len());
                }
            }
        }
        switches(&module.entry_points[0].function.body, &mut sizes);
        // Three of an array; of a heap as many as the target names, else 64.
        assert_eq!(sizes, [3, 64]);
        let heap = program.interface.bindings.iter().find(|binding| binding.is_heap()).unwrap();
        let mut target = crate::lift::Target::default();
        let known = crate::lift::ResourceSpecialization { count: 5, ..Default::default() };
        target.resources.insert(heap.into(), known);
        let module = program.emit(&target).unwrap().module;
        sizes.clear();
        switches(&module.entry_points[0].function.body, &mut sizes);
        assert_eq!(sizes, [3, 5]);
    }

    #[test]
    fn opacity_of_procedural_candidates_is_a_second_search() {
        let program = lifted(include_bytes!("../../tests/fixtures/dxil/ray_opacity.dxil"), None).unwrap();
        let module = valid(&program);
        let function = &module.entry_points[0].function;
        let queries = function
            .local_variables
            .iter()
            .filter(|(_, local)| matches!(module.types[local.ty].inner, naga::TypeInner::RayQuery { .. }));
        assert_eq!(queries.count(), 2);
        let names: Vec<_> = function.local_variables.iter().filter_map(|(_, local)| local.name.as_deref()).collect();
        assert!(names.contains(&"ray_query0_structure") && names.contains(&"ray_query0_element"), "{names:?}");
        // Each of the two places begins the first query or the second, one of them in one of three structures.
        let searches = format!("{:?}", function.body).matches("Initialize").count();
        assert_eq!(searches, 2 * (1 + 3));
    }

    #[test]
    fn hit_objects_are_values_and_their_searches_the_hosts() {
        let program = lifted(include_bytes!("../../tests/fixtures/dxil/hit_object.dxil"), None).unwrap();
        let words = |name: &str| {
            let variable = program.ir.variables.iter().find(|variable| variable.name == name);
            variable.unwrap_or_else(|| panic!("no variable: {name}")).len
        };
        assert_eq!((words("hit_object"), words("hit_object_attributes")), (49, 8));
        assert_eq!((words("trace_ray_operands"), words("hit_object_invoke_payload")), (15, 4));
        for callback in ["hit_object_trace_ray", "hit_object_invoke", "load_local_root_table_constant"] {
            assert!(program.ir.functions.iter().any(|function| function.name == callback), "{callback}");
        }
        valid(&program);
    }

    #[test]
    fn attributes_at_vertices_are_nagas() {
        let program = lifted(include_bytes!("../../tests/fixtures/pixel/attribute.dxil"), None).unwrap();
        let module = valid(&program);
        let arguments = &module.entry_points[0].function.arguments;
        let at_vertices = |argument: &&naga::FunctionArgument| {
            let per_vertex = Some(naga::Interpolation::PerVertex);
            matches!(argument.binding, Some(naga::Binding::Location { interpolation, .. }) if interpolation == per_vertex)
        };
        assert_eq!(arguments.iter().filter(at_vertices).count(), 2);
        // naga has one kind of barycentrics: the others are worked out.
        let weights = |argument: &&naga::FunctionArgument| {
            let perspective = naga::BuiltIn::Barycentric { perspective: true };
            argument.binding == Some(naga::Binding::BuiltIn(perspective))
        };
        assert_eq!(arguments.iter().filter(weights).count(), 1);
        let capabilities = Capabilities::all() - Capabilities::PER_VERTEX;
        let target = crate::lift::Target { capabilities, ..Default::default() };
        assert!(program.emit(&target).unwrap_err().what.contains("vertices of a triangle"));
    }

    #[test]
    fn ids_do_not_count_from_where_the_draw_begins() {
        use crate::reflection::{DRAW_ARGUMENTS, DRAW_SPACE};
        let program = lifted(include_bytes!("../../tests/fixtures/dxil/start_location.dxil"), None).unwrap();
        let [draw] = &program.interface.bindings[..] else { panic!("{:?}", program.interface.bindings) };
        assert_eq!((draw.name.as_deref(), draw.space), (Some(DRAW_ARGUMENTS), DRAW_SPACE));
        let emitted = program.emit(&crate::lift::Target::default()).unwrap();
        assert_eq!(emitted.notes, []);
        valid(&program);
        let main = &program.ir.functions[0];
        let differences = main.blocks.iter().flat_map(|block| &block.insts);
        let differences =
            differences.filter(|value| matches!(main.op(**value), Some(Op::Binary(crate::ir::BinaryOp::ISub, ..))));
        assert_eq!(differences.count(), 2);
    }

    #[test]
    fn functions_of_other_libraries_have_no_contents() {
        let program = lifted(include_bytes!("../../tests/fixtures/dxil/external.dxil"), None).unwrap();
        let open = program.ir.functions.iter().find(|function| function.name == "scaled").unwrap();
        assert_eq!((open.blocks.len(), open.blocks[0].params.len(), open.result), (1, 1, crate::ir::Type::F32));
        assert!(program.ir.variables.iter().any(|variable| variable.name == "scaled_parameter1"));
        assert!(program.notes.iter().any(|note| note.text.starts_with("scaled: a function without contents")));
        valid(&program);
    }

    #[test]
    fn helpers_know_built_ins_and_discard() {
        let program = lifted(include_bytes!("../../tests/fixtures/dxil/helper_pixel.dxil"), None).unwrap();
        let module = valid(&program);
        assert_eq!(module.functions.len(), 1);
        let program = lifted(include_bytes!("../../tests/fixtures/dxil/helpers.dxil"), None).unwrap();
        let module = valid(&program);
        let lane = module.global_variables.iter().find(|(_, global)| global.name.as_deref() == Some("lane_of_thread"));
        assert_eq!(lane.unwrap().1.space, naga::AddressSpace::Private);
    }

    #[test]
    fn feedback_is_not_collected_and_that_is_noted() {
        let program = lifted(include_bytes!("../../tests/fixtures/dxil/feedback.dxil"), None).unwrap();
        assert!(program.notes.iter().any(|note| note.text.contains("sampler feedback")));
        assert_eq!(program.emit(&crate::lift::Target::default()).unwrap().resources.len(), 2);
    }

    #[test]
    fn locals_have_names_where_debug_information_tells_them() {
        let bytes = include_bytes!("../../tests/fixtures/dxil/names.dxil");
        let program = lifted(bytes, None).unwrap();
        let names: std::collections::BTreeSet<&str> =
            program.ir.functions[0].names.values().map(String::as_str).collect();
        for name in ["color", "weight", "total", "step", "result_x"] {
            assert!(names.contains(name), "{name}: {names:?}");
        }
        assert!(!names.contains("color_x"));
        assert!(program.ir.variables.iter().any(|variable| variable.name == "history"));
        // The same program without its copy, and with the copy of another: no names.
        let container = Container::parse(bytes).unwrap();
        let mut container = crate::container::ContainerWriter::from_container(&container);
        let other = include_bytes!("../../tests/fixtures/dxil/functions.dxil");
        let other = Container::parse(other).unwrap();
        let other = other.part(crate::container::FourCc::DXIL).unwrap().data;
        container.set(crate::container::FourCc::ILDB, other);
        let program = lifted(&container.write().unwrap(), None).unwrap();
        assert!(program.ir.functions[0].names.is_empty(), "{:?}", program.ir.functions[0].names);
    }

    #[test]
    fn what_becomes_of_denormals_is_told() {
        use crate::reflection::DenormalMode;
        for (bytes, mode, word) in [
            (&include_bytes!("../../tests/fixtures/dxil/denormals_kept.dxil")[..], DenormalMode::Preserve, "kept"),
            (include_bytes!("../../tests/fixtures/dxil/denormals_flushed.dxil"), DenormalMode::FlushToZero, "flushed"),
        ] {
            let program = lifted(bytes, None).unwrap();
            assert_eq!(program.interface.entry_points[0].facts.denormals, mode);
            let emitted = program.emit(&crate::lift::Target::default()).unwrap();
            assert!(emitted.notes.iter().any(|note| note.text.contains(word)), "{:?}", emitted.notes);
        }
    }

    #[test]
    fn nodes_are_described_and_become_compute_shaders() {
        use crate::reflection::{NODE_SPACE, NodeLaunch};
        let bytes = include_bytes!("../../tests/fixtures/node/work_graph.dxil");
        let program = lifted(bytes, None).unwrap();
        let node = |name: &str| {
            let entry = program.interface.entry_points.iter().find(|entry| entry.name == name).unwrap();
            entry.facts.node.as_deref().unwrap()
        };
        let (split, work, collect, share) = (node("split"), node("work"), node("collect"), node("share"));
        assert_eq!(split.launch, NodeLaunch::Broadcasting);
        assert!(split.is_program_entry && !work.is_program_entry);
        assert_eq!((split.dispatch_grid, split.max_dispatch_grid), (None, Some([16, 4, 1])));
        let [tile] = &split.inputs[..] else { panic!("{:?}", split.inputs) };
        assert_eq!((tile.record_size, tile.record_alignment), (20, 4));
        let grid = tile.dispatch_grid.unwrap();
        assert_eq!((grid.offset, grid.components, grid.component), (0, 3, crate::reflection::ComponentType::U32));
        let [items, done] = &split.outputs[..] else { panic!("{:?}", split.outputs) };
        assert_eq!((items.record_size, items.max_records, items.is_empty()), (12, Some(64), false));
        assert_eq!((done.record_size, done.max_records, done.is_empty()), (0, Some(1), true));
        assert_eq!(done.id.as_ref().unwrap().name, "finish");
        assert_eq!((work.launch, work.max_recursion_depth), (NodeLaunch::Thread, Some(5)));
        assert_eq!(work.local_root_arguments_table_index, Some(3));
        assert_eq!(work.outputs[1].array_size, Some(3));
        assert_eq!((collect.id.name.as_str(), collect.id.index), ("gather", 1));
        assert_eq!(collect.local_root_arguments_table_index, None);
        assert_eq!(share.share_input_of.as_ref().unwrap().name, "finish");
        assert!(share.inputs[0].tracks_sharing() && share.inputs[0].is_writable());
        assert!(share.inputs[0].is_globally_coherent() && !tile.is_writable());

        let of_nodes = program.interface.bindings.iter().filter(|binding| binding.space == NODE_SPACE);
        let kinds: Vec<_> = of_nodes.map(|binding| binding.kind).collect();
        assert!(matches!(kinds[..], [ResourceKind::ConstantBuffer { size: 48 }, ResourceKind::RawBuffer { .. }]));

        let module = program.emit(&crate::lift::Target::default()).unwrap().module;
        let entries: Vec<_> = module.entry_points.iter().map(|entry| (&*entry.name, entry.workgroup_size)).collect();
        assert!(module.entry_points.iter().all(|entry| entry.stage == naga::ShaderStage::Compute));
        assert!(entries.contains(&("split", [32, 1, 1])) && entries.contains(&("work", [32, 1, 1])));
        assert!(entries.contains(&("collect", [8, 1, 1])));
        Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module).unwrap();
    }

    /// Each hull shader of a library has registers of its own, also in a function of patch constants that two share.
    #[test]
    fn hull_shaders_of_a_library_have_states_of_their_own() {
        let bytes = include_bytes!("../../tests/fixtures/stages/hull_library.dxil");
        let program = crate::lift(bytes, &LiftOptions::default()).unwrap();
        let module = valid(&program);
        assert_eq!(module.entry_points.len(), 3);
        let shared = module.functions.iter().filter(|(_, function)| function.name.as_deref() == Some("of_triangles"));
        assert_eq!(shared.count(), 2);
    }

    #[test]
    fn functions_of_a_library_without_shaders_share_variables_with_their_callers() {
        let bytes = include_bytes!("../../tests/fixtures/dxil/exports.dxil");
        let program = crate::lift(bytes, &LiftOptions::default()).unwrap();
        let names: Vec<_> = program.ir.functions.iter().map(|function| function.name.as_str()).collect();
        assert_eq!(names, ["paired", "steep"]);
        // The result, `inout` and `out`: nothing in the library reads what is written there, and all of it stays.
        let paired = &program.ir.functions[0];
        let mut stored = std::collections::BTreeMap::<_, u32>::new();
        for &inst in paired.blocks.iter().flat_map(|block| &block.insts) {
            if let Some(Op::StoreVariable { variable, .. }) = paired.op(inst) {
                let variable = &program.ir.variables[variable.index()];
                assert_eq!((variable.space, variable.element), (VariableSpace::Interface, crate::ir::Type::I32));
                *stored.entry(variable.name.as_str()).or_default() += 1;
            }
        }
        assert_eq!(
            stored.into_iter().collect::<Vec<_>>(),
            [("paired_parameter0", 3), ("paired_parameter2", 1), ("paired_parameter3", 1)]
        );
        let module = valid(&program);
        assert_eq!((module.entry_points.len(), module.functions.len()), (0, 2));
        // Static variables keep their values from call to call.
        let calls = program.ir.variables.iter().find(|variable| variable.name == "calls").unwrap();
        assert_eq!(calls.space, VariableSpace::Thread);
        assert!(program.ir.to_string().contains("load_variable"));
        // Two buffers without a register have places of their own.
        let emitted = program.emit(&crate::lift::Target::default()).unwrap();
        let slots: std::collections::BTreeSet<_> = emitted.resources.iter().map(|resource| resource.slot).collect();
        assert_eq!(slots.len(), 3);

        let options = LiftOptions { entry: Some("steep".to_owned()), ..Default::default() };
        assert_eq!(crate::lift(bytes, &options).unwrap().ir.functions.len(), 1);
    }

    #[test]
    fn a_library_is_lifted_whole_or_by_name() {
        let bytes = include_bytes!("../../tests/fixtures/compute/library.dxil");
        let whole = lifted(bytes, None).unwrap();
        assert!(whole.ir.entry_points.len() > 1);
        let name = whole.interface.entry_points[1].name.clone();
        let one = lifted(bytes, Some(&name)).unwrap();
        assert_eq!(one.ir.entry_points.len(), 1);
        assert_eq!(one.interface.entry_points[0].name, name);
        assert_eq!(lifted(bytes, Some("absent")).unwrap_err().kind, ErrorKind::Mismatch);
    }
}
