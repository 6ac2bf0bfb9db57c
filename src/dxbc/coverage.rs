//! How each opcode is lowered: `docs/coverage.md` is written from it.

use super::opcode::Opcode;
pub use document::markdown;

/// How an opcode is lowered, or its declaration used.
fn how(opcode: Opcode) -> &'static str {
    use Opcode::*;
    match opcode {
        Mov | DMov => "renames a value: no code",
        Movc | DMovc => "a selection, lane by lane",
        Swapc => "two selections of what was there before",
        Add | Div | Mul | IAdd | DAdd | DMul | DDiv => "the same operator",
        Max | Min | DMax | DMin => "the same function; if one operand is NaN, the other",
        IMax | IMin | UMax | UMin => "the same function, with operands of the right sign",
        Dp2 | Dp3 | Dp4 => "the same function; of precise operands products and sums in order",
        Exp | Log => "the same function, of base 2",
        Frc => "x - floor(x)",
        Sqrt | Rsq | RoundNe | RoundNi | RoundPi | RoundZ => "the same function",
        Rcp | DRcp => "1 divided by the operand",
        SinCos => "sine and cosine",
        Mad => "a product and a sum, in two roundings",
        DFma => "a fused multiplication and addition",
        IMad | UMad => "a wrapping product and sum",
        Eq | Ge | Lt | Ne | IEq | IGe | ILt | INe | ULt | UGe | DEq | DGe | DLt | DNe => {
            "a comparison; it stays a bool until it is used as a mask of bits"
        }
        And | Or | Xor | Not => "of masks a logical operation or a selection, else the bits",
        INeg => "the operand from 0",
        IShl | IShr | UShr => "a shift; the count is taken modulo 32",
        IMul | UMul => "high and low half, each only where it has a destination",
        UDiv => "quotient and remainder; by 0 both are all ones",
        UAddc => "the sum, and whether it is less than an operand",
        USubb => "the difference, and whether the first operand is the lesser",
        Ubfe | Ibfe => "width and offset modulo 32; width 0 gives 0, a field beyond the top is cut",
        Bfi => "width and offset modulo 32; bits beyond the top are lost",
        BfRev | CountBits => "the same function",
        FirstBitLo => "the lowest bit; all ones if none is set",
        FirstBitHi | FirstBitShi => "the highest bit, counted from the top; all ones if there is none",
        Msad => "the four bytes one after another, without those that are 0 in the reference",
        FtoI | FtoU | DtoI | DtoU => "a conversion; NaN gives 0, what is out of range the nearest",
        ItoF | UtoF | ItoD | UtoD | DtoF | FtoD => "a conversion",
        F32toF16 | F16toF32 => "packed halves",

        If | Else | EndIf => "a branch",
        Loop | EndLoop => "a loop; what its rounds hand on are phis",
        Switch | Case | Default | EndSwitch => "a switch; cases that fall through are kept in order",
        Break | Continue => "a jump out of, or to the next round of, the innermost construct",
        Breakc | Continuec => "the same jump in a branch",
        Ret => "the end of the function, or of the subroutine that was expanded",
        Retc => "the same in a branch",
        Call => "the subroutine, expanded where it is called",
        Callc => "the same in a branch",
        InterfaceCall => {
            "the method of the class that the lift's options name, expanded where it is called; a switch over the slots of an indexed array"
        }
        Label => "the beginning of a subroutine",
        Nop | DebugBreak => "nothing",
        Abort => "the end of the function",

        Sample | SampleB | SampleC | SampleCLz | SampleD | SampleL => {
            "a sample; what naga has no form for becomes gradients or coordinates"
        }
        SampleLFeedback | SampleCLzFeedback => "the form without feedback, and a status that says all is mapped",
        SampleClampFeedback | SampleBClampFeedback | SampleDClampFeedback | SampleCClampFeedback => {
            "a sample whose gradients give no level below the clamp, and a status that says all is mapped"
        }
        Gather4 | Gather4C => "a gather",
        Gather4Po | Gather4PoC => "a gather; an offset that is not constant becomes part of the coordinates",
        Gather4Feedback | Gather4CFeedback | Gather4PoFeedback | Gather4PoCFeedback => {
            "the form without feedback, and a status that says all is mapped"
        }
        Ld => "a load of a texture, a typed buffer or a row of a texture buffer; 0 outside",
        LdMs => "a load of one sample; 0 outside",
        LdFeedback | LdMsFeedback | LdUavTypedFeedback | LdRawFeedback | LdStructuredFeedback => {
            "the form without feedback, and a status that says all is mapped"
        }
        CheckAccessFullyMapped => "the status as a bool",
        Lod => "the logarithm of the longer derivative in texels, clamped and not",
        ResInfo => "queries of size, layers and levels, as integers, floats or reciprocals",
        SampleInfo => "the number of samples; the rasterizer's is the target's",
        SamplePos => "a table of the standard patterns",
        BufInfo => "the size in bytes, or in elements",

        LdUavTyped | StoreUavTyped => "a load or store of a storage texture or of a typed buffer; nothing outside",
        LdRaw | StoreRaw => "words of the buffer or of group-shared memory; nothing beyond the end",
        LdStructured | StoreStructured => {
            "words of an element of the buffer or of group-shared memory; nothing beyond the end"
        }
        AtomicAnd | AtomicOr | AtomicXor | AtomicCmpStore | AtomicIAdd | AtomicIMax | AtomicIMin | AtomicUMax
        | AtomicUMin => "an atomic operation without its result",
        ImmAtomicIAdd | ImmAtomicAnd | ImmAtomicOr | ImmAtomicXor | ImmAtomicExch | ImmAtomicCmpExch
        | ImmAtomicIMax | ImmAtomicIMin | ImmAtomicUMax | ImmAtomicUMin => "an atomic operation with the old value",
        ImmAtomicAlloc | ImmAtomicConsume => "an atomic addition to a counter in a buffer of its own",
        Sync => "a barrier of work group, storage or texture; in stages without one it is left out, and noted",

        Discard => "the lane becomes a helper: it goes on where others need it, and has no more effects",
        DerivRtx | DerivRty | DerivRtxCoarse | DerivRtyCoarse => "a coarse derivative",
        DerivRtxFine | DerivRtyFine => "a fine derivative",
        EvalSnapped => "the input carried on by its derivatives to the sixteenth of a pixel",
        EvalSampleIndex => "the input carried on to the sample's place",
        EvalCentroid => "the input where it is interpolated already; noted if that is not the centroid",
        Emit | Cut | EmitThenCut | EmitStream | CutStream | EmitThenCutStream => {
            "vertices and strips collected in variables of the program"
        }

        CustomData => "an immediate constant buffer becomes a constant array; comments and debug data are passed over",
        DclResource | DclResourceRaw | DclResourceStructured => "a binding of the interface",
        DclUavTyped | DclUavRaw | DclUavStructured => "a binding of the interface that may be written",
        DclConstantBuffer | DclSampler => "a binding of the interface",
        DclIndexRange => "the registers that an index chosen at run time may reach: an array",
        DclGsOutputPrimitiveTopology
        | DclGsInputPrimitive
        | DclMaxOutputVertexCount
        | DclGsInstanceCount
        | DclStream => "a fact of the geometry shader's interface",
        DclInput | DclInputSgv | DclInputSiv | DclInputPs | DclInputPsSgv | DclInputPsSiv => {
            "an input: with its interpolation, and an element of the signature where the container has none"
        }
        DclOutput | DclOutputSgv | DclOutputSiv => "an output, and an element of the signature where there is none",
        DclTemps => "nothing: registers become values",
        DclIndexableTemp => "a variable, or values if no index is chosen at run time",
        DclGlobalFlags => "early depth tests; without `refactoringAllowed` every result is computed as written",
        HsDecls | HsControlPointPhase | HsForkPhase | HsJoinPhase => {
            "the hull shader's phases: control points, and then patch constants, each a function of the compute shader"
        }
        DclHsForkPhaseInstanceCount | DclHsJoinPhaseInstanceCount => "the phase, once for each instance",
        DclInputControlPointCount
        | DclOutputControlPointCount
        | DclTessDomain
        | DclTessPartitioning
        | DclTessOutputPrimitive
        | DclHsMaxTessFactor => "a fact of the tessellation's interface",
        DclThreadGroup => "the size of the thread group",
        DclTgsmRaw | DclTgsmStructured => "a group-shared variable of words",
        DclFunctionBody | DclFunctionTable | DclInterface => {
            "which methods an interface has, by the class that fills it (see `fcall`)"
        }
    }
}

/// The document's tables.
mod document {
    use std::{
        collections::{BTreeMap, BTreeSet},
        fmt::Write,
    };

    use super::*;
    use crate::{
        Result, census,
        container::Container,
        dxbc::{self, statement::Statements},
    };

    /// Number of the last opcode of Shader Model 5.1.
    const LAST: u32 = 234;

    /// Numbers that stand for no opcode of a program: `D3D10_SB_OPCODE_RESERVED0`, `D3D10_1_SB_OPCODE_RESERVED1`,
    /// `D3D11_SB_OPCODE_RESERVED0`, `D3D11_1_SB_OPCODE_RESERVED0`.
    const RESERVED: [u32; 4] = [107, 112, 209, 218];

    /// The opcodes' subjects.
    fn group(opcode: Opcode) -> usize {
        use Opcode::*;
        let number = opcode as u16;
        match opcode {
            _ if opcode.is_declaration() => 5,
            CustomData | HsDecls | HsControlPointPhase | HsForkPhase | HsJoinPhase => 5,
            If | Else | EndIf | Loop | EndLoop | Switch | Case | Default | EndSwitch | Break | Breakc | Continue
            | Continuec | Ret | Retc | Call | Callc | Label | Nop | Abort | DebugBreak | InterfaceCall => 1,
            Ld | LdMs | ResInfo | Lod | Gather4 | SamplePos | SampleInfo | BufInfo | CheckAccessFullyMapped => 2,
            _ if (Sample as u16..=SampleB as u16).contains(&number) => 2,
            _ if (Gather4C as u16..=Gather4PoC as u16).contains(&number) => 2,
            _ if number >= Gather4Feedback as u16 => 2,
            _ if (LdUavTyped as u16..=Sync as u16).contains(&number) => 3,
            Discard | DerivRtx | DerivRty | DerivRtxCoarse | DerivRtxFine | DerivRtyCoarse | DerivRtyFine | Emit
            | Cut | EmitThenCut | EmitStream | CutStream | EmitThenCutStream | EvalSnapped | EvalSampleIndex
            | EvalCentroid => 4,
            _ => 0,
        }
    }

    const GROUPS: [&str; 6] = [
        "Moves, arithmetic, comparisons, conversions",
        "Control flow",
        "Textures and what resources tell of themselves",
        "Memory, atomics, barriers",
        "Pixels, derivatives, streams",
        "Declarations and phases",
    ];

    fn all() -> impl Iterator<Item = Opcode> {
        (0..=LAST).filter_map(Opcode::from_number)
    }

    /// Why no case runs an opcode: a stage that no driver runs through wgpu, or nothing that could be told from another.
    fn not_run(opcode: Opcode) -> Option<&'static str> {
        use Opcode::*;
        Some(match opcode {
            DclHsJoinPhaseInstanceCount => "fxc makes one instance of a join phase",
            Abort => "its thread stops: nothing is defined of the others",
            _ => return None,
        })
    }

    /// Number of the cases that hold each opcode, by its number.
    fn counts() -> BTreeMap<u16, usize> {
        let mut counts = BTreeMap::new();
        for shader in census::shaders("dxbc") {
            let opcodes = opcodes(&shader.bytes).unwrap_or_else(|error| panic!("{}: {error}", shader.path.display()));
            for opcode in opcodes {
                *counts.entry(opcode).or_default() += shader.cases;
            }
        }
        counts
    }

    /// Numbers of the opcodes in a container's program.
    fn opcodes(bytes: &[u8]) -> Result<BTreeSet<u16>> {
        let container = Container::parse(bytes)?;
        let mut statements = Statements::new(dxbc::program_part(&container)?.data)?;
        let mut found = BTreeSet::new();
        while let Some(statement) = statements.next()? {
            found.insert(statement.opcode as u16);
        }
        Ok(found)
    }

    /// The opcodes as tables of Markdown.
    pub fn markdown() -> String {
        let counts = counts();
        let mut text = String::new();
        writeln!(text, "All {} opcodes are lifted or declare something that is used.", all().count()).unwrap();
        for (index, title) in GROUPS.iter().enumerate() {
            writeln!(text, "\n### {title}\n\n| Number | Opcode | How | Cases |\n|---:|---|---|---|").unwrap();
            for opcode in all().filter(|opcode| group(*opcode) == index) {
                let cases = counts.get(&(opcode as u16)).map_or_else(String::new, usize::to_string);
                writeln!(text, "| {} | `{}` | {} | {cases} |", opcode as u16, opcode.name(), how(opcode)).unwrap();
            }
        }
        text
    }

    #[test]
    fn every_opcode_has_a_value_case() {
        let counts = counts();
        let has_case = |opcode: &Opcode| counts.contains_key(&(*opcode as u16));
        let lacking: Vec<_> = all().filter(|opcode| !has_case(opcode) && not_run(*opcode).is_none()).collect();
        assert!(lacking.is_empty(), "opcodes without a case: {lacking:?}");
        let run: Vec<_> = all().filter(|opcode| has_case(opcode) && not_run(*opcode).is_some()).collect();
        assert!(run.is_empty(), "opcodes with a case that are said to have none: {run:?}");
    }

    #[test]
    fn opcodes_are_complete() {
        let mut names = std::collections::HashSet::new();
        for number in 0..=LAST {
            match Opcode::from_number(number) {
                Some(opcode) => assert!(names.insert(opcode.name()), "twice: {}", opcode.name()),
                None => assert!(RESERVED.contains(&number), "no opcode {number}"),
            }
        }
        assert!((LAST + 1..2048).all(|number| Opcode::from_number(number).is_none()));
    }
}
