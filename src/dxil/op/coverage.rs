//! What becomes of each operation, in words: `docs/coverage.md` is written from this and from the table. Whether an
//! operation is lifted, the table alone says.

/// Why the operations that the table refuses are refused.
pub fn refusal(number: u32) -> &'static str {
    match number {
        0..=3 => "only compilers' intermediate states have it, no finished module",
        226..=237 | 259..=261 | 290..=302 | 305..=308 => "a reserved number, which stands for no operation",
        _ => "no lowering yet",
    }
}

#[cfg(test)]
pub use document::{is_lifted, markdown};

#[cfg(test)]
mod document {
    use std::fmt::Write;

    use super::{
        super::{
            Lowering,
            census::{self, Census, Counts},
        },
        refusal,
    };
    use crate::dxil::op::opcode;

    /// Tables of the document: title, first and last operation.
    const GROUPS: &[(&str, u32, u32)] = &[
        ("Registers, inputs and outputs (6.0)", 0, 5),
        ("Floats (6.0)", 6, 29),
        ("Integers, minimum and maximum, multiplication, bit fields (6.0)", 30, 53),
        ("Dot products (6.0)", 54, 56),
        ("Resources (6.0)", 57, 79),
        ("Barriers, levels of detail, derivatives, evaluation of inputs (6.0)", 80, 92),
        ("Thread ids and geometry streams (6.0)", 93, 100),
        ("Doubles as words (6.0)", 101, 102),
        ("Tessellation and primitives (6.0)", 103, 109),
        ("Waves and quads (6.0)", 110, 123),
        ("Conversions and counts (6.0)", 124, 136),
        ("Barycentrics, view, raw buffers (6.1, 6.2)", 137, 140),
        ("Ray tracing stages (6.3)", 141, 161),
        ("Packed dot products (6.4)", 162, 164),
        ("Waves, mesh shaders, sampler feedback (6.5)", 165, 177),
        ("Ray queries (6.5)", 178, 215),
        ("Handles, packed bytes, helper lanes (6.6)", 216, 221),
        ("Quads, raw gathers, multisampled stores (6.7)", 222, 225),
        ("Reserved", 226, 237),
        ("Work graphs and barriers (6.8)", 238, 253),
        ("Sampling, start locations, ray query flags (6.8)", 254, 258),
        ("Reserved", 259, 261),
        ("Shader execution reordering (6.9)", 262, 289),
        ("Reserved", 290, 302),
        ("Long vectors (6.9)", 303, 311),
    ];

    /// How an operation is lifted, if the table lifts it.
    fn how(number: u32) -> Option<&'static str> {
        const SELECTED: &str = "a built-in, or the component of one that the argument names";
        const RAY: &str = "naga's built-in value, or a variable that whoever runs the ray tracing stage fills";
        Some(match number {
            4 => "an argument of the entry point, one for each register; in the other stages a variable of the program",
            5 => "a field of the entry point's result; in the other stages a variable of the program",
            6 | 12..=20 | 21 | 23..=29 => "the same function",
            7 => "clamp to 0..1; NaN gives 0",
            8 => "a test of the bits: naga may take floats to be never NaN",
            9 | 10 => "a test of the magnitude against the greatest finite number",
            11 => "finite, and of a magnitude not below the smallest normal number",
            22 => "x - floor(x)",
            30 | 31 => "the same function; 16 and 64 bits in words of 32",
            32 => "the same function, all ones if no bit is set; 16 and 64 bits in words of 32",
            33 | 34 => "the highest bit, counted from the top; all ones if there is none",
            35 | 36 => "the same function; if one operand is NaN, the other",
            37..=40 => "the same function, with operands of the right sign",
            41 | 42 => "both halves; the high one from four products of 16-bit halves",
            43 => "quotient and remainder; by 0 both are all ones",
            44 => "the sum, and whether it is less than an operand",
            45 => "the difference, and whether the first operand is the lesser",
            46 => "a product and a sum",
            47 => "a fused multiplication and addition",
            48 | 49 => "a wrapping product and sum",
            50 => "the four bytes one after another, without those that are 0 in the reference",
            51 | 52 => "width and offset modulo 32; width 0 gives 0, a field beyond the top is cut",
            53 => "width and offset modulo 32, bits beyond the top are lost",
            54..=56 => "the same function of vectors",
            57 | 160 | 217 => {
                "the resource's own variable; an index into an array is a binding array's; where it is chosen at run time, accesses are chosen"
            }
            58 => "the buffer's element of the row; a dynamic byte selects from the row",
            59 => "the rows of the constant buffer, as many of its components as are used",
            60..=65 | 224 | 254 | 255 => {
                "a sample; offsets that are not constant and clamps of the level become part of coordinates and gradients"
            }
            66 => "a load; 0 outside of the texture",
            67 => "a store; nothing outside of the texture",
            68 => "a load of a typed, structured or raw buffer; 0 beyond the end",
            69 => "a store to a typed, structured or raw buffer; nothing beyond the end",
            70 => "an atomic addition to a counter in a buffer of its own",
            71 => "true: what naga reads is mapped",
            72 => "queries of size, levels and layers in Direct3D's order",
            73 | 74 => "a gather; offsets that are not constant become part of the coordinates",
            75 | 76 => "a table of the standard patterns",
            77 => "the number of samples the target names",
            78 | 79 => "an atomic operation with its old value; nothing beyond the end",
            80 | 244..=246 => {
                "a barrier of work group, storage or texture; in stages without one it is left out, and noted"
            }
            81 => "the logarithm of the longer derivative in texels, biased and clamped as asked",
            82 => "the lane becomes a helper: it goes on where others need it, and has no more effects",
            83..=86 => "the same function; in compute shaders a difference across the quad's lanes",
            87 => "the input carried on by its derivatives to the sixteenth of a pixel",
            88 => "the input carried on to the sample's place",
            108 => "a built-in of pixel shaders; in other stages a variable of the program",
            89 => "the input where it is interpolated already; noted if that is not the centroid",
            90 | 93..=96 | 138 => SELECTED,
            100 | 105 | 107 => "a variable of the program",
            91 => "the sample mask",
            92 => "whether all corners of the pixel are within the triangle, by barycentrics and their derivatives",
            97..=99 => "vertices and strips collected in variables of the program",
            101 | 102 => "a bitcast of two words, or the words themselves, where the target lacks doubles",
            103 | 104 | 106 => "a variable of the program, as all of the stage's interface",
            109 => "0, and noted: no portable shader has the counter",
            110..=118 | 122 => "a subgroup operation, among active lanes that are no helpers",
            119..=121 | 123 => "a subgroup reduction, scan or exchange, of every type",
            124..=129 => "a bitcast; minimum-precision halves are converted instead",
            130 | 131 => "packed halves",
            132..=134 => "a conversion; NaN gives 0, what is out of range the nearest",
            135 | 136 => "the bits of a ballot",
            137 => "the register at the three vertices, as naga has it",
            139 | 140 => "words of the buffer, by the type's size; 0 or nothing beyond the end",
            144 => "a variable that whoever runs the ray tracing stage fills: naga has no ray flags",
            141..=154 | 161 | 213 => RAY,
            155 | 156 => "a word that says what becomes of the hit, and the end of the function",
            157..=159 => "operands in variables, then a call of a function that whoever runs the stage supplies",
            162 => "two products and sums in 32-bit floats",
            163 | 164 => "four products of bytes, extended by their sign or by zeros",
            165 => "a loop with one turn for each value that differs",
            166 | 167 => "a loop over the lanes of the mask below this one",
            168..=170 | 173 => "naga's mesh and task stages: counts, indices and payload",
            171 | 172 => "an output of the mesh's vertex or primitive",
            178 | 258 => {
                "a query of the function: a local variable of naga's type; where it is chosen at run time, steps are chosen"
            }
            181 => "steps of naga's query, which commit none of its candidates, to the end of the search",
            179 | 180 | 182 | 183 => "the same step of naga's query",
            195..=198 | 205 | 206 | 211 | 212 => "from what the search was asked for, which variables keep",
            184..=189 | 191..=194 | 199..=204 | 207..=210 | 214 | 215 => {
                "what naga's query tells of the candidate or committed hit"
            }
            190 => "a second search, without what is opaque: whether the same candidate comes",
            216 => "what the handle's properties say of the resource",
            218 => "an element of a binding array that stands for the heap, one for each kind of resource",
            219 => "four bit fields, extended by their sign or by zeros",
            220 => "truncated or clamped bytes, put together",
            221 => "whether the lane was discarded, or covers no sample",
            222 => "a vote of the quad's four lanes",
            174..=177 => "nothing, and noted, as where no feedback map is bound",
            223 => "a gather of the integer texture, or of its two components for 64 bits",
            225 => "a store to the layer that stands for the sample",
            238 => "room in the buffer of records, by an atomic addition to the output's count",
            239 => "an address in the buffer of records",
            240 => "an atomic addition to the output's count",
            241 => "nothing: the host takes the records when the launch has ended",
            242 => "what the launch's constants say, cut for the group",
            243 => {
                "an atomic addition of each thread to a word of the record's own, and whether the last was among the group's"
            }
            247 | 250 => "a byte of the buffer of records, from the launch's constants",
            248 => "the slot of the array's node; none beyond the last",
            249 | 251 => "what the metadata says too",
            252 => "a word of the output's slot",
            253 => "a word of the launch's constants",
            256 | 257 => "a word of a constant buffer of the draw's arguments, which ids are told apart from",
            262 | 267 | 288 => "operands in variables, then a call of a function that whoever runs the stage supplies",
            263 | 264 => "what naga's query tells of the committed hit, put together",
            268 => "nothing: it is a hint",
            265 | 266 | 269..=287 | 289 => "words of a value that keeps the hit",
            303 | 304 => "loads and stores of four numbers at most, one after another",
            309 | 310 => "the elements combined one after another",
            311 => "dot products of four elements at most, added up",
            _ => return None,
        })
    }

    /// A module with the operation can be written.
    pub fn is_lifted(number: u32) -> bool {
        opcode(number).is_some_and(|op| !matches!(op.lowering, Lowering::Refused))
    }

    /// The operations as tables of Markdown.
    pub fn markdown() -> String {
        let all: Vec<_> = (0..).map_while(|number| Some((number, opcode(number)?))).collect();
        let refused = all.iter().filter(|(_, op)| matches!(op.lowering, Lowering::Refused)).count();
        let reserved = all.iter().filter(|(_, op)| op.name.starts_with("Reserved")).count();
        let census = Census::take();
        let mut text = String::new();
        let (operations, lifted) = (all.len() - reserved, all.len() - refused);
        writeln!(text, "{lifted} of {operations} operations are lifted; {reserved} more numbers are reserved.")
            .unwrap();
        for &(title, first, last) in GROUPS {
            writeln!(
                text,
                "\n### {title}\n\n| Number | Operation | | How, or why not | Cases |\n|---:|---|---|---|---|"
            )
            .unwrap();
            for (number, op) in &all[first as usize..=last as usize] {
                let (state, phrase) = match op.lowering {
                    Lowering::Refused => ("refused", refusal(*number)),
                    _ => ("lifted", how(*number).unwrap_or_else(|| panic!("no phrase: {number} {}", op.name))),
                };
                let cases = match census.operations.get(number) {
                    Some(counts) => cases(counts),
                    None if is_lifted(*number) => {
                        census::not_run(*number).map_or_else(String::new, |why| format!("none: {why}"))
                    }
                    None => String::new(),
                };
                writeln!(text, "| {number} | `{}` | {state} | {phrase} | {cases} |", op.name).unwrap();
            }
        }
        writeln!(text, "\n### LLVM instructions\n\n| Instruction | Cases |\n|---|---|").unwrap();
        for (name, _) in census::INSTRUCTIONS {
            let cases = census.instructions.get(*name).map_or_else(String::new, cases);
            writeln!(text, "| `{name}` | {cases} |").unwrap();
        }
        text
    }

    /// Numbers of cases, for each type if there are any.
    fn cases(counts: &Counts) -> String {
        let count =
            |(ty, count): (&String, &usize)| if ty.is_empty() { count.to_string() } else { format!("{ty}: {count}") };
        counts.iter().map(count).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn table_is_complete() {
        // The last operation of Shader Model 6.9.
        assert_eq!(opcode(311).map(|op| op.name), Some("FDot"));
        assert!(opcode(312).is_none());
        let mut names = std::collections::HashSet::new();
        for number in 0..=311 {
            let op = opcode(number).unwrap_or_else(|| panic!("no operation {number}"));
            assert!(names.insert(op.name), "twice: {}", op.name);
            let is_reserved = op.name.starts_with("Reserved");
            assert_eq!(is_reserved, refusal(number).contains("reserved"), "{number} {}", op.name);
        }
    }

    #[test]
    fn groups_hold_every_operation_once() {
        let mut next = 0;
        for &(title, first, last) in GROUPS {
            assert!(first == next && last >= first, "{title}: from {first} to {last}, after {next}");
            next = last + 1;
        }
        assert!(opcode(next - 1).is_some() && opcode(next).is_none());
    }
}
