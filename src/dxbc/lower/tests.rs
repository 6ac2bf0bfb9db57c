//! Programs assembled by hand, and the IR they become.

use super::lower;
use crate::{
    dxbc::{declare::complete, decode},
    ir::verify,
    reflection::{Format, Interface, ShaderModel, Stage},
};

/// `r#` with a write mask.
fn dst(register: u32, mask: u32) -> [u32; 2] {
    [0x0010_0002 | mask << 4, register]
}

/// `r#` with a swizzle, as four digits of components.
fn src(register: u32, swizzle: [u32; 4]) -> [u32; 2] {
    [0x0010_0006 | swizzle_bits(swizzle), register]
}

fn swizzle_bits(swizzle: [u32; 4]) -> u32 {
    swizzle.iter().enumerate().map(|(lane, component)| component << (4 + 2 * lane)).sum()
}

/// `o#` with a write mask.
fn out(register: u32, mask: u32) -> [u32; 2] {
    [0x0010_2002 | mask << 4, register]
}

/// `l(x)`
fn imm(value: u32) -> [u32; 2] {
    [0x0000_4001, value]
}

/// `l(x, y, z, w)`
fn imm4(value: [u32; 4]) -> [u32; 5] {
    [0x0000_4002, value[0], value[1], value[2], value[3]]
}

const XYZW: [u32; 4] = [0, 1, 2, 3];
const XXXX: [u32; 4] = [0; 4];

/// An instruction of an opcode's number, with the controls above bit 10.
fn op(number: u32, controls: u32, operands: &[&[u32]]) -> Vec<u32> {
    let length = 1 + operands.iter().map(|operand| operand.len() as u32).sum::<u32>();
    let mut words = vec![number | controls | length << 24];
    words.extend(operands.iter().copied().flatten());
    words
}

const NONZERO: u32 = 1 << 18;

/// The IR of a pixel shader that reads `v0.xyzw` (of the type that the signature is made up with, f32) and writes
/// `o0.xyzw`.
fn pixel(body: &[Vec<u32>]) -> crate::Result<String> {
    let declarations = [op(98, 2 << 11, &[&[0x0010_10f2, 0]]), op(101, 0, &[&out(0, 0xf)]), op(104, 0, &[&[8]])];
    let words: Vec<u32> = declarations.iter().chain(body).flatten().copied().collect();
    let header = [0x50, words.len() as u32 + 2];
    let bytes: Vec<u8> = header.iter().chain(&words).flat_map(|word| word.to_le_bytes()).collect();
    let program = decode(&bytes)?;
    let mut interface = Interface::new(Format::Dxbc, ShaderModel { major: 5, minor: 0 }, Stage::Pixel);
    complete(&program, &mut interface);
    let (mut module, _) = lower(&program, &interface, &Default::default())?;
    verify(&module, &interface)?;
    crate::ir::passes::optimize(&mut module, &interface)?;
    Ok(module.display(&interface).to_string())
}

/// Numbers of values and of instructions say nothing: `%7: f32 = ... #3` as `f32 = ...`, operands as `%`.
fn shape(text: &str) -> Vec<String> {
    let mut shapes = Vec::new();
    for line in text.lines().filter(|line| line.starts_with("    ")) {
        let line = line.split(" #").next().unwrap_or(line).split(" //").next().unwrap_or(line);
        let mut shape = String::new();
        let mut characters = line.trim().chars().peekable();
        while let Some(character) = characters.next() {
            shape.push(character);
            if character == '%' {
                while characters.next_if(char::is_ascii_digit).is_some() {}
            }
        }
        shapes.push(shape.strip_prefix("%: ").unwrap_or(&shape).to_owned());
    }
    shapes
}

fn input() -> [u32; 2] {
    [0x0010_1006 | swizzle_bits(XYZW), 0]
}

const MOV: u32 = 54;
const ADD: u32 = 0;
const RET: u32 = 62;

#[test]
fn sources_are_read_before_destinations() {
    // mov r0.xyzw, v0.xyzw; mov r0.xyzw, r0.wzyx; mov o0.xyzw, r0.xyzw
    let text = pixel(&[
        op(MOV, 0, &[&dst(0, 0xf), &input()]),
        op(MOV, 0, &[&dst(0, 0xf), &src(0, [3, 2, 1, 0])]),
        op(MOV, 0, &[&out(0, 0xf), &src(0, XYZW)]),
        op(RET, 0, &[]),
    ])
    .unwrap();
    let expected = [
        "f32x4 = load_input input, element0, i32(0), 0",
        "f32x4 = swizzle %, wzyx",
        "store_output output, element0, i32(0), 0, %",
        "return",
    ];
    assert_eq!(shape(&text), expected, "{text}");
}

#[test]
fn both_results_come_before_either_is_written() {
    // umul r0.x, r0.y, r0.x, r0.y with r0 = bits of v0: the low half multiplies the old x.
    const UMUL: u32 = 81;
    let text = pixel(&[
        op(MOV, 0, &[&dst(0, 0xf), &input()]),
        op(UMUL, 0, &[&dst(0, 1), &dst(0, 2), &src(0, XXXX), &src(0, [1; 4])]),
        op(MOV, 0, &[&out(0, 0xf), &src(0, [0, 1, 1, 1])]),
        op(RET, 0, &[]),
    ])
    .unwrap();
    let lines = shape(&text);
    let high = text.lines().find(|line| line.contains("u_mul_high")).unwrap();
    let low = text.lines().find(|line| line.contains("i_mul")).unwrap();
    let operands = |line: &str| line.split("mul").nth(1).unwrap().split(" #").next().unwrap().replace("_high", "");
    assert_eq!(operands(high), operands(low), "{lines:?}");
}

#[test]
fn masks_stay_bool() {
    const LT: u32 = 49;
    const AND: u32 = 1;
    // lt r0.x, v0.x, v0.y; and r0.x, r0.x, l(0x3f800000); mov o0.xyzw, r0.xxxx
    let text = pixel(&[
        op(LT, 0, &[&dst(0, 1), &input(), &[0x0010_1006 | swizzle_bits([1; 4]), 0]]),
        op(AND, 0, &[&dst(0, 1), &src(0, XXXX), &imm(0x3f80_0000)]),
        op(MOV, 0, &[&out(0, 0xf), &src(0, XXXX)]),
        op(RET, 0, &[]),
    ])
    .unwrap();
    assert!(text.contains("select") && text.contains("f32(1.0), f32(0.0)"), "{text}");
    assert!(!text.contains("s_ext") && !text.contains("bitcast"), "{text}");
}

#[test]
fn a_mask_read_as_a_number_is_all_ones() {
    const LT: u32 = 49;
    const UTOF: u32 = 86;
    let text = pixel(&[
        op(LT, 0, &[&dst(0, 1), &input(), &[0x0010_1006 | swizzle_bits([1; 4]), 0]]),
        op(UTOF, 0, &[&out(0, 0xf), &src(0, XXXX)]),
        op(RET, 0, &[]),
    ])
    .unwrap();
    assert!(text.contains("i32 = s_ext"), "{text}");
}

#[test]
fn saturate_modifiers_and_precise() {
    // add_sat [precise(x)] r0.x, -|v0.x|, l(1.0)
    let text = pixel(&[
        op(
            ADD,
            1 << 13 | 1 << 19,
            &[&dst(0, 1), &[0x8010_1006 | swizzle_bits(XXXX), 1 | 3 << 6, 0], &imm(0x3f80_0000)],
        ),
        op(MOV, 0, &[&out(0, 0xf), &src(0, XXXX)]),
        op(RET, 0, &[]),
    ])
    .unwrap();
    let at = |name: &str| text.find(name).unwrap_or_else(|| panic!("no {name} in {text}"));
    // 1 + -|x| is 1 - |x|.
    assert!(at("f_abs") < at("f_sub") && at("f_sub") < at("f_saturate"), "{text}");
    assert!(text.lines().any(|line| line.contains("f_sub") && line.contains("precise")), "{text}");
}

#[test]
fn unwritten_components_are_zero() {
    // mov o0.y, v0.x alone: nothing is stored for x, z and w.
    let text = pixel(&[op(MOV, 0, &[&out(0, 2), &input()]), op(RET, 0, &[])]).unwrap();
    assert!(text.contains("store_output output, element0, i32(0), 1, %"), "{text}");
    // add r0.x, r1.x, v0.x with r1 never written.
    let text = pixel(&[
        op(ADD, 0, &[&dst(0, 1), &src(1, XXXX), &input()]),
        op(MOV, 0, &[&out(0, 0xf), &src(0, XXXX)]),
        op(RET, 0, &[]),
    ])
    .unwrap();
    assert!(!text.contains("undef") && (text.contains("f32(0.0)") || !text.contains("f_add")), "{text}");
}

#[test]
fn a_switch_falls_through() {
    const SWITCH: u32 = 76;
    const CASE: u32 = 6;
    const DEFAULT: u32 = 10;
    const BREAK: u32 = 2;
    const ENDSWITCH: u32 = 23;
    const IADD: u32 = 30;
    let add = |value: u32| op(IADD, 0, &[&dst(0, 1), &src(0, XXXX), &imm(value)]);
    let text = pixel(&[
        op(MOV, 0, &[&dst(0, 1), &imm(0)]),
        op(SWITCH, 0, &[&[0x0010_100a, 0]]),
        op(CASE, 0, &[&imm(1)]),
        add(10),
        op(CASE, 0, &[&imm(2)]),
        op(CASE, 0, &[&imm(3)]),
        add(20),
        op(BREAK, 0, &[]),
        op(DEFAULT, 0, &[]),
        add(30),
        op(BREAK, 0, &[]),
        op(ENDSWITCH, 0, &[]),
        op(MOV, 0, &[&out(0, 0xf), &src(0, XXXX)]),
        op(RET, 0, &[]),
    ])
    .unwrap();
    let switch = text.lines().find(|line| line.contains("switch")).unwrap();
    // Cases 2 and 3 go to one block, with the value from before; case 1 comes there with what it added to.
    let targets: Vec<&str> = switch.split("block").skip(1).collect();
    assert_eq!(targets.len(), 4, "{text}");
    assert_eq!(
        targets[1].split_once(':').map_or(targets[1], |x| x.0).chars().next(),
        targets[2].chars().next(),
        "{text}"
    );
}

#[test]
fn subroutines_are_expanded() {
    const CALL: u32 = 4;
    const LABEL: u32 = 44;
    let label = [0x0010_a000, 7];
    let text = pixel(&[
        op(MOV, 0, &[&dst(0, 1), &input()]),
        op(CALL, 0, &[&label]),
        op(CALL, 0, &[&label]),
        op(MOV, 0, &[&out(0, 0xf), &src(0, XXXX)]),
        op(RET, 0, &[]),
        op(LABEL, 0, &[&label]),
        op(ADD, 0, &[&dst(0, 1), &src(0, XXXX), &imm(0x3f80_0000)]),
        op(RET, 0, &[]),
    ])
    .unwrap();
    assert_eq!(text.matches("f_add").count(), 2, "{text}");
    assert_eq!(text.matches("store_output").count(), 1, "{text}");
}

#[test]
fn recursion_is_an_error() {
    const CALL: u32 = 4;
    const LABEL: u32 = 44;
    let label = [0x0010_a000, 7];
    let error = pixel(&[
        op(CALL, 0, &[&label]),
        op(RET, 0, &[]),
        op(LABEL, 0, &[&label]),
        op(CALL, 0, &[&label]),
        op(RET, 0, &[]),
    ])
    .unwrap_err();
    assert!(error.what.contains("too deep"), "{error}");
}

#[test]
fn expansion_is_bounded() {
    const CALL: u32 = 4;
    const LABEL: u32 = 44;
    // Each subroutine calls the next one twice.
    let label = |number| [0x0010_a000, number];
    let mut body = vec![op(CALL, 0, &[&label(0)]), op(RET, 0, &[])];
    for number in 0..24 {
        body.push(op(LABEL, 0, &[&label(number)]));
        if number < 23 {
            body.push(op(CALL, 0, &[&label(number + 1)]));
            body.push(op(CALL, 0, &[&label(number + 1)]));
        }
        body.push(op(RET, 0, &[]));
    }
    let error = pixel(&body).unwrap_err();
    assert!(error.what.contains("expand too far"), "{error}");
}

#[test]
fn control_flow_must_match() {
    const IF: u32 = 31;
    const ENDIF: u32 = 21;
    const ELSE: u32 = 18;
    const BREAK: u32 = 2;
    const LOOP: u32 = 48;
    for body in [
        vec![op(ENDIF, 0, &[])],
        vec![op(ELSE, 0, &[])],
        vec![op(BREAK, 0, &[])],
        vec![op(LOOP, 0, &[])],
        vec![op(IF, NONZERO, &[&imm(1)])],
        vec![op(LOOP, 0, &[]), op(ENDIF, 0, &[])],
    ] {
        let error = pixel(&body).unwrap_err();
        assert_eq!(error.kind, crate::ErrorKind::Malformed, "{error}");
    }
}

#[test]
fn instructions_behind_a_return_are_not_reached() {
    let text = pixel(&[
        op(MOV, 0, &[&out(0, 0xf), &input()]),
        op(RET, 0, &[]),
        op(MOV, 0, &[&out(0, 0xf), &imm4([1, 2, 3, 4])]),
        op(RET, 0, &[]),
    ])
    .unwrap();
    assert_eq!(text.matches("store_output").count(), 1, "{text}");
}

#[test]
fn swapc_reads_before_it_writes() {
    const SWAPC: u32 = 142;
    // swapc r0.x, r1.x, v0.z, r0.x, r1.x
    let text = pixel(&[
        op(MOV, 0, &[&dst(0, 1), &input()]),
        op(MOV, 0, &[&dst(1, 1), &[0x0010_1006 | swizzle_bits([1; 4]), 0]]),
        op(SWAPC, 0, &[&dst(0, 1), &dst(1, 1), &[0x0010_1006 | swizzle_bits([2; 4]), 0], &src(0, XXXX), &src(1, XXXX)]),
        op(MOV, 0, &[&dst(0, 2), &src(1, XXXX)]),
        op(MOV, 0, &[&out(0, 0xf), &src(0, [0, 1, 1, 1])]),
        op(RET, 0, &[]),
    ])
    .unwrap();
    let selects: Vec<_> = text.lines().filter(|line| line.contains("select")).collect();
    let operands = |line: &str| -> Vec<String> {
        line.split("select")
            .nth(1)
            .unwrap()
            .split(" #")
            .next()
            .unwrap()
            .split(", ")
            .map(|x| x.trim().to_owned())
            .collect()
    };
    let (first, second) = (operands(selects[0]), operands(selects[1]));
    assert_eq!((&first[1], &first[2]), (&second[2], &second[1]), "{text}");
}

#[test]
fn a_loop_carries_what_changes() {
    const LOOP: u32 = 48;
    const ENDLOOP: u32 = 22;
    const BREAKC: u32 = 3;
    const IGE: u32 = 33;
    const IADD: u32 = 30;
    let text = pixel(&[
        op(MOV, 0, &[&dst(0, 1), &imm(0)]),
        op(MOV, 0, &[&dst(1, 0xf), &input()]),
        op(LOOP, 0, &[]),
        op(IGE, 0, &[&dst(2, 1), &src(0, XXXX), &imm(4)]),
        op(BREAKC, NONZERO, &[&[0x0010_000a, 2]]),
        op(ADD, 0, &[&dst(1, 1), &src(1, XXXX), &src(1, [1; 4])]),
        op(IADD, 0, &[&dst(0, 1), &src(0, XXXX), &imm(1)]),
        op(ENDLOOP, 0, &[]),
        op(MOV, 0, &[&out(0, 0xf), &src(1, XYZW)]),
        op(RET, 0, &[]),
    ])
    .unwrap();
    let header = text.lines().find(|line| line.starts_with("block") && line.contains('(')).unwrap();
    assert_eq!(header.matches(": i32").count(), 1, "{text}");
    assert_eq!(header.matches(": f32").count(), 1, "{text}");
    assert!(!text.contains("bitcast"), "{text}");
}

#[test]
fn every_opcode_has_a_lowering() {
    use crate::dxbc::opcode::{Opcode, Role};
    // What stands in the program as something else than an instruction of its own.
    let apart = |opcode: Opcode| {
        use Opcode::*;
        opcode.is_declaration()
            || matches!(opcode, CustomData | HsDecls | HsControlPointPhase | HsForkPhase | HsJoinPhase)
    };
    let mut count = 0;
    for opcode in (0..256).filter_map(Opcode::from_number).filter(|opcode| !apart(*opcode)) {
        let operand = |role: &Role| -> Vec<u32> {
            match role {
                Role::Destination => dst(0, 0xf).to_vec(),
                Role::Source => src(0, XYZW).to_vec(),
                Role::Resource => vec![0x0010_7e46, 0],
                Role::Sampler => vec![0x0010_6000, 0],
                Role::Memory => vec![0x0011_e0f2, 0],
                Role::Label => vec![0x0010_a000, 0],
                Role::Stream => vec![0x0011_0000, 0],
            }
        };
        let words: Vec<Vec<u32>> = match opcode {
            // The function's number, and `fp0[0][0]`.
            Opcode::InterfaceCall => vec![vec![6, 0, 0x0031_3000, 0, 0, 0]],
            _ => opcode.operands().iter().map(operand).collect(),
        };
        let operands: Vec<&[u32]> = words.iter().map(Vec::as_slice).collect();
        let instruction = match opcode {
            Opcode::InterfaceCall => [&[120 | 6 << 24][..], &words[0][1..]].concat(),
            _ => op(opcode as u32, 0, &operands),
        };
        let error = pixel(&[instruction, op(RET, 0, &[])]).err().map(|error| error.to_string()).unwrap_or_default();
        // It may stand in the wrong place here, or use what is not declared, but it is known.
        assert!(!error.contains(super::NO_LOWERING), "{}: {error}", opcode.name());
        count += 1;
    }
    assert!(count > 150, "{count}");
}
