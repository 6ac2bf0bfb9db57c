//! What is written parses back to the same text.

use super::{names::Word, parse};
use crate::ir::{BinaryOp, CompareOp, ConvertOp, TernaryOp, UnaryOp, WaveOp};

/// One of every form.
const EVERYTHING: &str = r#"variable0 "x\"0": thread f32x4[4]
variable1 "table": constant i32[3] = [i32(1), i32(-2), i32(2147483647)]
variable2 "g0": group_shared i32[64]
entry compute function0
entry hull function1, function2, function3

function0 "main" -> void, entry block0 {
block0:
    %0 "position": f32x4 = load_input input, element1, i32(0), 0 #3
    %1: f32 = load_input patch_constant, element0, %19, 1, vertex: i32(2)
    %2: f32x2 = evaluate_input element1, i32(0), 2, centroid
    %3: f32x2 = evaluate_input element1, i32(0), 2, sample: i32(1)
    %4: f32x2 = evaluate_input element1, i32(0), 2, x: i32(1), y: i32(-8)
    %5: f32 = load_input_at_vertex element1, i32(0), 0, 2
    store_output output, element0, i32(0), 0, %0 #4294967295
    store_output output, element0, i32(0), 0, vertex: i32(1), %0
    %6: i32x3 = system_value dispatch_thread_id
    %7: handle = handle binding0, i32(0)
    %8: handle = handle binding1, i32(7), non_uniform
    %9: handle = handle binding2, i32(0)
    %10: f32x3 = load_constant %7, i32(2), 4
    %11: f32x4 = precise f_mad %0, f32x4(1.0, -0.0, 0x7fc00000, 1e-45), %0
    %12: f32x4 = sample %8, %9, %2
    %13: f32x4 = sample %8, %9, %2, bias: %1, offset: i32x2(1, -1), min_lod: f32(0.5)
    %14: f32 = sample %8, %9, %2, level_zero, compare: %1
    %15: f32x4 = sample %8, %9, %2, level: %1
    %16: f32x4 = sample %8, %9, %2, gradient_x: %2, gradient_y: %3
    %17: f32x4 = gather %8, %9, %2, 3, compare: %1, offset: i32x2(1, 2)
    %18: f32 = calculate_lod %8, %9, %2, clamped
    %19: i32 = extract %6, 2
    %20: f32 = extract_dynamic %0, %19
    %21: f32x2 = swizzle %0, wx
    %22: f32x3 = compose %20, %1, f32(inf)
    %23: f32x4 = load_texture %8, %6, level: i32(0), offset: i32x2(0, 0)
    %24: f32x4 = load_texture %8, %6, sample: i32(0)
    store_texture %8, %6, %23
    %25: i32 = atomic_texture compare_exchange, %8, %6, %19, compare: i32(0)
    %26: i32x4 = texture_size %8, level: %19
    %27: i32 = buffer_size %8
    %28: i32 = sample_count
    %29: i32 = sample_count texture: %8
    %30: f32x2 = sample_position texture: %8, i32(1)
    %31: i32x4 = load_buffer %8, byte: %19
    %32: i32x4 = load_buffer %8, element: %19
    store_buffer %8, index: %19, offset: i32(4), %31
    %33: i32 = atomic_buffer s_max, %8, byte: %19, %27
    %34: i32 = update_counter %8, decrement
    %35: f32x4 = load_variable variable0, %19
    %36: f32 = load_variable variable0, %19, component: 3
    store_variable variable0, %19, component: 2, %36
    %37: i32 = atomic_variable exchange, variable2, %19, i32(1)
    %38: f32 = derivative x, fine, %36
    %39: bool = is_helper_lane
    discard %39
    barrier group_sync, group_shared, uav_global
    %40: i32 = wave multi_prefix_i_add, %37, %26
    %41: bool = wave is_first_lane
    %42: f32 = call function1, %36, bool(true)
    emit_vertex 1, emit, cut
    set_mesh_output_counts %37, i32(2)
    emit_indices %37, i32(0), i32(1), %19
    dispatch_mesh %37, i32(1), i32(2), variable2, i32(4), 60
    %43: f64 = bitcast i32x2(0, 1072693248)
    %44: i64 = f_to_s f64(1e300)
    %45: f16 = f_to_f f32(0.1)
    %46: f16 = f_add %45, f16(0.5)
    %47: bool = i_eq i16(-1), i16(5)
    %48: i32 = bitfield_insert i32(1), %19, %27, %28
    %49: f32 = select %39, %36, f32(0.0)
    %50: f32 = dot %22, %10
    %53: handle = choose_handle %19, 0, %7, 4294967295, %8
    ray_query trace, query1, %53, i32(0), i32(255), f32x3(0.0, 0.0, 0.0), %1, f32x3(0.0, 0.0, 1.0), %1
    %54: bool = choose_ray_query %19, query0, query12, ray_query, proceed, query0
    %55: f32 = choose_ray_query %19, query0, query1, load_ray_query, t, query0, 0, committed
    switch %19, 0: block1(%49), 18446744073709551615: block2, default: block1(f32(1.0))
block1(%51: f32, %52 "i": i32):
    branch %41, block2, block1(%51)
block2:
    jump block3
block3:
    unreachable
}

function1 "helper" -> f32, entry block0 {
block0(%0: f32, %1: bool):
    return %0
}
"#;

#[test]
fn everything_is_read_and_written() {
    // Infinity may be read as a word, but is written as its bits.
    let expected = EVERYTHING.replace("f32(inf)", "f32(0x7f800000)");
    let module = parse(EVERYTHING).unwrap();
    assert_eq!(module.to_string(), expected);
    // Numbers stay.
    assert_eq!(parse(&expected).unwrap(), module);
}

#[test]
fn faults_name_their_line() {
    let fault = |text: &str| parse(text).unwrap_err().what;
    assert!(fault("nonsense").contains("line 1"));
    let function =
        |line: &str| format!("function0 \"main\" -> void, entry block0 {{\nblock0:\n    {line}\n    return\n}}\n");
    assert!(parse(&function("")).is_ok());
    for line in [
        "%0: f32 = f_frob f32(1.0)",
        "%0: f32 = f_add f32(1.0)",
        "%0: f32 = f_neg f32(1.0), f32(1.0)",
        "%0: f32 = f_neg f32(1.0), level: f32(1.0)",
        "%0: f32x5 = f_neg f32(1.0)",
        "%0: f32 = f_neg f32x2(1.0)",
        "%4294967295: f32 = f_neg f32(1.0)",
        "%0: f32 = f_neg f32(one)",
        "%0: i32 = i_neg i32(4294967296)",
        "jump block4000000000",
        "%0",
        "%0 \"open: f32 = f_neg f32(1.0)",
    ] {
        assert!(fault(&function(line)).contains("line 3"), "{line}: {}", fault(&function(line)));
    }
    assert!(fault("function0 \"main\" -> void, entry block0 {\nblock0:\n").contains("not closed"));
}

#[test]
fn operations_have_different_words() {
    let mut words: Vec<String> = Vec::new();
    words.extend(UnaryOp::ALL.iter().map(|op| op.word()));
    words.extend(BinaryOp::ALL.iter().map(|op| op.word()));
    words.extend(CompareOp::ALL.iter().map(|op| op.word()));
    words.extend(TernaryOp::ALL.iter().map(|op| op.word()));
    words.extend(ConvertOp::ALL.iter().map(|op| op.word()));
    let count = words.len();
    words.sort();
    words.dedup();
    assert_eq!(words.len(), count);
    for op in WaveOp::ALL {
        assert_eq!(WaveOp::from_word(&op.word()), Some(*op));
    }
}
