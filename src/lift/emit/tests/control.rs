//! Control flow, variables, discard and calls.

use super::text::{program, wgsl, wgsl_of_body};
use crate::reflection::Stage;

/// Counts to the value in the buffer, and uses the counter after the loop.
#[test]
fn loops_carry_values_in_locals() {
    let wgsl = wgsl_of_body(
        Stage::Compute,
        "",
        "    %1: i32 = load_buffer %0, byte: i32(0)
    jump block1(i32(0), i32(1))
block1(%2 \"i\": i32, %3: i32):
    %4: bool = s_lt %2, %1
    branch %4, block2, block3
block2:
    %5: i32 = i_add %2, i32(1)
    jump block1(%3, %5)
block3:
    %6: i32 = i_add %2, %3
    store_buffer %0, byte: i32(4), %6
    return",
    );
    assert!(wgsl.contains("var i: i32"), "{wgsl}");
    // Swapped all at once: both arguments are read before either is written.
    let body = &wgsl[wgsl.find("loop").unwrap()..];
    let (first, second) = (body.find("i = ").unwrap(), body.rfind("let").unwrap());
    assert!(first > body.find("let").unwrap(), "{wgsl}");
    assert!(second > first, "{wgsl}");
}

/// A value that is defined in one branch and used after both have joined again.
#[test]
fn values_outlive_their_block() {
    let wgsl = wgsl_of_body(
        Stage::Compute,
        "",
        "    %1: i32x2 = load_buffer %0, byte: i32(0)
    %2: i32 = extract %1, 0
    switch %2, 0: block1, 1: block1, 4294967295: block2, default: block3
block1:
    %3: i32 = s_max %2, i32(3)
    jump block4(%3)
block2:
    %4: i32 = i_neg %2
    jump block4(%4)
block3:
    return
block4(%5: i32):
    %6: i32 = a_shr %5, %2
    store_buffer %0, byte: i32(4), %6
    return",
    );
    assert!(wgsl.contains("switch"), "{wgsl}");
}

#[test]
fn switches_over_64_bits() {
    let wgsl = wgsl_of_body(
        Stage::Compute,
        "",
        "    %1: i64 = load_buffer %0, byte: i32(0)
    switch %1, 4294967296: block1, 18446744073709551615: block2, default: block3
block1:
    store_buffer %0, byte: i32(4), i32(1)
    jump block3
block2:
    store_buffer %0, byte: i32(4), i32(2)
    jump block3
block3:
    return",
    );
    assert!(wgsl.contains("4294967296lu"), "{wgsl}");
}

#[test]
fn variables_are_guarded() {
    let wgsl = wgsl_of_body(
        Stage::Compute,
        "variable0 \"x0\": thread f32x4[4]
variable1 \"table\": constant f32[3] = [f32(1.0), f32(0x7fc00000), f32(2.0)]
variable2 \"g0\": group_shared i32[64]
variable3 \"g1\": group_shared f32x3[64]
variable4 \"seen\": thread bool[1]",
        "    %1: i32x2 = load_buffer %0, byte: i32(0)
    %2: i32 = extract %1, 0
    %3: i32 = extract %1, 1
    %4: f32 = load_variable variable1, %2
    store_variable variable0, %2, component: 3, %4
    store_variable variable0, i32(2), component: 0, %4
    %5: f32x4 = load_variable variable0, %3
    store_variable variable0, i32(7), %5
    %6: i32 = atomic_variable s_max, variable2, %2, %3
    %7: i32 = atomic_variable u_min, variable2, i32(1), %6
    %8: i32 = atomic_variable compare_exchange, variable2, %3, %7, compare: %6
    store_variable variable2, %2, %8
    barrier group_sync, group_shared
    %9: i32 = load_variable variable2, %3
    %10: f32x3 = swizzle %5, xyz
    store_variable variable3, %9, %10
    barrier group_sync
    barrier uav_global
    %11: f32 = load_variable variable3, %2, component: 1
    store_variable variable4, i32(0), bool(true)
    %12: bool = load_variable variable4, i32(0)
    %13: f32 = select %12, %11, %4
    store_buffer %0, byte: i32(4), %13
    return",
    );
    assert!(wgsl.contains("var x0_: array<vec4<f32>, 4>"), "{wgsl}");
    assert!(wgsl.contains("var<workgroup> g0_: array<atomic<u32>, 64>"), "{wgsl}");
    // NaN is no literal: the table holds bits.
    assert!(wgsl.contains("var<private> table: array<u32, 3>"), "{wgsl}");
    assert!(wgsl.contains("var seen: bool"), "{wgsl}");
    assert!(!wgsl.contains("[7]"), "a store out of range is dropped: {wgsl}");
}

#[test]
fn discard_kills_at_once_where_nothing_looks_at_other_lanes() {
    let wgsl = wgsl_of_body(
        Stage::Pixel,
        "",
        "    %1: f32 = load_buffer %0, byte: i32(0)
    %2: f32 = derivative x, fine, %1
    %3: bool = f_lt %2, f32(0.5)
    discard %3
    store_buffer %0, byte: i32(4), %1
    return",
    );
    assert!(wgsl.contains("discard;") && !wgsl.contains("alive"), "{wgsl}");
}

#[test]
fn discard_demotes_where_derivatives_follow() {
    let wgsl = wgsl_of_body(
        Stage::Pixel,
        "",
        "    %1: f32 = load_buffer %0, byte: i32(0)
    %2: bool = f_lt %1, f32(0.5)
    discard %2
    %3: f32 = derivative y, coarse, %1
    store_buffer %0, byte: i32(4), %3
    %4: i32 = atomic_buffer add, %0, byte: i32(8), i32(1)
    store_buffer %0, byte: i32(12), %4
    return",
    );
    let alive = wgsl.find("alive = false").expect(&wgsl);
    let derivative = wgsl.find("dpdyCoarse").expect(&wgsl);
    let kill = wgsl.find("discard;").expect(&wgsl);
    assert!(alive < derivative && derivative < kill, "{wgsl}");
}

#[test]
fn derivatives_in_compute_shaders() {
    let wgsl = wgsl_of_body(
        Stage::Compute,
        "",
        "    %1: f32x2 = load_buffer %0, byte: i32(0)
    %2: f32x2 = derivative y, fine, %1
    %3: i32x3 = system_value dispatch_thread_id
    %4: i32 = extract %3, 1
    store_buffer %0, byte: %4, %2
    return",
    );
    assert!(wgsl.contains("quadSwapY"), "{wgsl}");
    assert!(wgsl.contains("@workgroup_size(64, 1, 1)"), "{wgsl}");
}

#[test]
fn calls() {
    let text = "entry compute function0

function0 \"main\" -> void, entry block0 {
block0:
    %0: handle = handle binding0, i32(0)
    %1: i32 = load_buffer %0, byte: i32(0)
    %2: f32 = call function1, %1, bool(true)
    store_buffer %0, byte: i32(0), %2
    return
}

function1 \"helper\" -> f32, entry block0 {
block0(%0: i32, %1: bool):
    branch %1, block1, block2
block1:
    %2: f32 = s_to_f %0
    return %2
block2:
    return f32(1.0)
}
";
    let wgsl = wgsl(Stage::Compute, text);
    assert!(wgsl.contains("fn helper("), "{wgsl}");
}

#[test]
fn recursion_is_refused() {
    let text = "entry compute function0

function0 \"main\" -> void, entry block0 {
block0:
    call function0
    return
}
";
    let ir = crate::ir::text::parse(text).unwrap();
    let error = program(ir, Stage::Compute).emit(&crate::Target::default()).unwrap_err();
    assert_eq!(error.what, "function that calls itself");
}

/// The WGSL writer looks for the type of halves: it must be there though no variable has it.
#[test]
fn halves_are_enabled() {
    let wgsl = wgsl_of_body(
        Stage::Compute,
        "",
        "    %1: f32 = load_buffer %0, byte: i32(0)
    %2: f16 = f_to_f %1
    %3: f16 = f_mul %2, f16(0.5)
    %4: f32 = f_to_f %3
    store_buffer %0, byte: i32(4), %4
    return",
    );
    assert!(wgsl.contains("enable f16;"), "{wgsl}");
}

#[test]
fn what_cannot_do_without_a_type_is_named() {
    let text = "entry compute function0

function0 \"main\" -> void, entry block0 {
block0:
    %0: handle = handle binding0, i32(0)
    %1: i64 = atomic_buffer add, %0, byte: i32(0), i64(1)
    store_buffer %0, byte: i32(8), %1
    return
}
";
    let program = program(crate::ir::text::parse(text).unwrap(), Stage::Compute);
    let capabilities = naga::valid::Capabilities::all() - naga::valid::Capabilities::SHADER_INT64;
    let error = program.emit(&crate::Target { capabilities, ..crate::Target::default() }).unwrap_err();
    assert_eq!(error.what, "64-bit integers that the target lacks: AtomicBuffer");
}

/// A vector times a scalar, which is never copied into lanes.
#[test]
fn vectors_are_multiplied_by_scalars() {
    let wgsl = wgsl_of_body(
        Stage::Compute,
        "",
        "    %1: f32x4 = load_buffer %0, byte: i32(0)
    %2: f32 = extract %1, 0
    %3: f32x4 = swizzle %2, xxxx
    %4: bool = f_lt %2, f32(0.0)
    branch %4, block1, block2
block1:
    %5: f32x4 = f_mul %1, %3
    store_buffer %0, byte: i32(0), %5
    jump block2
block2:
    %6: f32x4 = f_mad %3, %1, f32x4(2.0, 2.0, 2.0, 2.0)
    %7: f32x4 = f_mul %6, f32x4(3.0, 3.0, 3.0, 3.0)
    store_buffer %0, byte: i32(16), %7
    return",
    );
    assert!(wgsl.contains("* 3f)"), "{wgsl}");
    assert!(!wgsl.contains("vec4(_e"), "{wgsl}");
}
