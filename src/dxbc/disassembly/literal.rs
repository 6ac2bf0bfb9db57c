//! Immediate values: the compiler's listings show bits as the type that the instruction reads, or guess.

use std::fmt::Write;

use crate::dxbc::opcode::Opcode;

/// How the words of an immediate operand are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LiteralKind {
    /// As `float`.
    Float,
    /// As `int`: large ones as hexadecimal.
    Int,
    /// The instruction only moves bits: each word as what it looks like.
    Untyped,
}

impl LiteralKind {
    /// Separator of components: guesses stand closer.
    pub(super) fn separator(self) -> &'static str {
        match self {
            Self::Untyped => ",",
            Self::Float | Self::Int => ", ",
        }
    }

    /// How operand `index` of an instruction is shown.
    pub(super) fn of(opcode: Opcode, index: usize) -> Self {
        use Opcode as Op;
        match opcode {
            Op::Mov => Self::Untyped,
            Op::Movc | Op::Swapc => Self::Untyped,
            Op::And
            | Op::Or
            | Op::Xor
            | Op::Not
            | Op::IAdd
            | Op::IEq
            | Op::IGe
            | Op::ILt
            | Op::IMad
            | Op::IMax
            | Op::IMin
            | Op::IMul
            | Op::INe
            | Op::INeg
            | Op::IShl
            | Op::IShr
            | Op::ItoF
            | Op::UDiv
            | Op::ULt
            | Op::UGe
            | Op::UMul
            | Op::UMad
            | Op::UMax
            | Op::UMin
            | Op::UShr
            | Op::UtoF
            | Op::UAddc
            | Op::USubb
            | Op::CountBits
            | Op::FirstBitHi
            | Op::FirstBitLo
            | Op::FirstBitShi
            | Op::Ubfe
            | Op::Ibfe
            | Op::Bfi
            | Op::BfRev
            | Op::Msad
            | Op::F16toF32
            | Op::ItoD
            | Op::UtoD
            | Op::Ld
            | Op::LdFeedback
            | Op::LdMs
            | Op::LdMsFeedback
            | Op::LdRaw
            | Op::LdRawFeedback
            | Op::LdStructured
            | Op::LdStructuredFeedback
            | Op::LdUavTyped
            | Op::LdUavTypedFeedback
            | Op::ResInfo
            | Op::Switch
            | Op::Case
            | Op::If
            | Op::Breakc
            | Op::Continuec
            | Op::Retc
            | Op::Callc
            | Op::Discard
            | Op::SamplePos
            | Op::EvalSnapped
            | Op::EvalSampleIndex
            | Op::AtomicAnd
            | Op::AtomicOr
            | Op::AtomicXor
            | Op::AtomicCmpStore
            | Op::AtomicIAdd
            | Op::AtomicIMax
            | Op::AtomicIMin
            | Op::AtomicUMax
            | Op::AtomicUMin
            | Op::ImmAtomicIAdd
            | Op::ImmAtomicAnd
            | Op::ImmAtomicOr
            | Op::ImmAtomicXor
            | Op::ImmAtomicExch
            | Op::ImmAtomicCmpExch
            | Op::ImmAtomicIMax
            | Op::ImmAtomicIMin
            | Op::ImmAtomicUMax
            | Op::ImmAtomicUMin => Self::Int,
            Op::StoreRaw if index == 1 => Self::Int,
            Op::StoreStructured if index <= 2 => Self::Int,
            Op::StoreRaw | Op::StoreStructured | Op::StoreUavTyped => Self::Untyped,
            // Not only the offsets: the listings show coordinates and references so too.
            Op::Gather4Po | Op::Gather4PoC | Op::Gather4PoFeedback | Op::Gather4PoCFeedback => Self::Int,
            _ => Self::Float,
        }
    }

    /// Appends one word.
    pub(super) fn write(self, word: u32, text: &mut String) {
        let value = f32::from_bits(word);
        match self {
            Self::Float => write_float(f64::from(value), text),
            Self::Int => write_int(word, text),
            Self::Untyped if is_small(word) => write_int(word, text),
            Self::Untyped if value.is_normal() || word == 0x8000_0000 => write_float(f64::from(value), text),
            Self::Untyped => write_int(word, text),
        }
    }
}

/// Integers up to here are shown as decimal numbers.
fn is_small(word: u32) -> bool {
    (word as i32).unsigned_abs() <= 10_000
}

fn write_int(word: u32, text: &mut String) {
    let written = if is_small(word) { write!(text, "{}", word as i32) } else { write!(text, "{word:#010x}") };
    written.expect("a string can be written to");
}

/// As C's `%f`; what is no number as Microsoft's C library shows it.
pub(super) fn write_float(value: f64, text: &mut String) {
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let written = if value.is_infinite() {
        write!(text, "{sign}1.#INF00")
    } else if value.is_nan() {
        // The quiet NaN with the sign is "indeterminate".
        write!(text, "{sign}1.#QNAN0")
    } else {
        write!(text, "{value:.6}")
    };
    written.expect("a string can be written to");
}
