//! The opcodes: numbers, names and operands.

/// What an operand of an instruction is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Written, by mask.
    Destination,
    /// Read, by swizzle.
    Source,
    /// A shader resource `t#`, or `rasterizer`; its swizzle orders what was read.
    Resource,
    /// A sampler `s#`.
    Sampler,
    /// A resource `t#`, an unordered-access view `u#` or group-shared memory `g#`; as destination with a mask.
    Memory,
    /// A label `l#` or function.
    Label,
    /// An output stream `m#`.
    Stream,
}

macro_rules! opcodes {
    ($($number:literal $variant:ident $name:literal [$($role:ident)*],)*) => {
        /// Opcodes of Shader Model 4.0 to 5.1, numbered as `D3D10_SB_OPCODE_TYPE`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u16)]
        pub enum Opcode {
            $(#[doc = concat!("`", $name, "`")] $variant = $number,)*
        }

        impl Opcode {
            /// The opcode of a number (bits 0 to 10 of an opcode token), if there is one.
            pub fn from_number(number: u32) -> Option<Self> {
                match number {
                    $($number => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// Its name, as the compiler's listings spell it.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// Its operands, in order. Declarations, which have a layout of their own, give none.
            pub fn operands(self) -> &'static [Role] {
                match self {
                    $(Self::$variant => &[$(Role::$role),*],)*
                }
            }
        }
    };
}

opcodes! {
    0 Add "add" [Destination Source Source],
    1 And "and" [Destination Source Source],
    2 Break "break" [],
    3 Breakc "breakc" [Source],
    4 Call "call" [Label],
    5 Callc "callc" [Source Label],
    6 Case "case" [Source],
    7 Continue "continue" [],
    8 Continuec "continuec" [Source],
    9 Cut "cut" [],
    10 Default "default" [],
    11 DerivRtx "deriv_rtx" [Destination Source],
    12 DerivRty "deriv_rty" [Destination Source],
    13 Discard "discard" [Source],
    14 Div "div" [Destination Source Source],
    15 Dp2 "dp2" [Destination Source Source],
    16 Dp3 "dp3" [Destination Source Source],
    17 Dp4 "dp4" [Destination Source Source],
    18 Else "else" [],
    19 Emit "emit" [],
    20 EmitThenCut "emit_then_cut" [],
    21 EndIf "endif" [],
    22 EndLoop "endloop" [],
    23 EndSwitch "endswitch" [],
    24 Eq "eq" [Destination Source Source],
    25 Exp "exp" [Destination Source],
    26 Frc "frc" [Destination Source],
    27 FtoI "ftoi" [Destination Source],
    28 FtoU "ftou" [Destination Source],
    29 Ge "ge" [Destination Source Source],
    30 IAdd "iadd" [Destination Source Source],
    31 If "if" [Source],
    32 IEq "ieq" [Destination Source Source],
    33 IGe "ige" [Destination Source Source],
    34 ILt "ilt" [Destination Source Source],
    35 IMad "imad" [Destination Source Source Source],
    36 IMax "imax" [Destination Source Source],
    37 IMin "imin" [Destination Source Source],
    38 IMul "imul" [Destination Destination Source Source],
    39 INe "ine" [Destination Source Source],
    40 INeg "ineg" [Destination Source],
    41 IShl "ishl" [Destination Source Source],
    42 IShr "ishr" [Destination Source Source],
    43 ItoF "itof" [Destination Source],
    44 Label "label" [Label],
    45 Ld "ld" [Destination Source Resource],
    46 LdMs "ldms" [Destination Source Resource Source],
    47 Log "log" [Destination Source],
    48 Loop "loop" [],
    49 Lt "lt" [Destination Source Source],
    50 Mad "mad" [Destination Source Source Source],
    51 Min "min" [Destination Source Source],
    52 Max "max" [Destination Source Source],
    53 CustomData "customdata" [],
    54 Mov "mov" [Destination Source],
    55 Movc "movc" [Destination Source Source Source],
    56 Mul "mul" [Destination Source Source],
    57 Ne "ne" [Destination Source Source],
    58 Nop "nop" [],
    59 Not "not" [Destination Source],
    60 Or "or" [Destination Source Source],
    61 ResInfo "resinfo" [Destination Source Resource],
    62 Ret "ret" [],
    63 Retc "retc" [Source],
    64 RoundNe "round_ne" [Destination Source],
    65 RoundNi "round_ni" [Destination Source],
    66 RoundPi "round_pi" [Destination Source],
    67 RoundZ "round_z" [Destination Source],
    68 Rsq "rsq" [Destination Source],
    69 Sample "sample" [Destination Source Resource Sampler],
    70 SampleC "sample_c" [Destination Source Resource Sampler Source],
    71 SampleCLz "sample_c_lz" [Destination Source Resource Sampler Source],
    72 SampleL "sample_l" [Destination Source Resource Sampler Source],
    73 SampleD "sample_d" [Destination Source Resource Sampler Source Source],
    74 SampleB "sample_b" [Destination Source Resource Sampler Source],
    75 Sqrt "sqrt" [Destination Source],
    76 Switch "switch" [Source],
    77 SinCos "sincos" [Destination Destination Source],
    78 UDiv "udiv" [Destination Destination Source Source],
    79 ULt "ult" [Destination Source Source],
    80 UGe "uge" [Destination Source Source],
    81 UMul "umul" [Destination Destination Source Source],
    82 UMad "umad" [Destination Source Source Source],
    83 UMax "umax" [Destination Source Source],
    84 UMin "umin" [Destination Source Source],
    85 UShr "ushr" [Destination Source Source],
    86 UtoF "utof" [Destination Source],
    87 Xor "xor" [Destination Source Source],
    88 DclResource "dcl_resource" [],
    89 DclConstantBuffer "dcl_constantbuffer" [],
    90 DclSampler "dcl_sampler" [],
    91 DclIndexRange "dcl_indexrange" [],
    92 DclGsOutputPrimitiveTopology "dcl_outputtopology" [],
    93 DclGsInputPrimitive "dcl_inputprimitive" [],
    94 DclMaxOutputVertexCount "dcl_maxout" [],
    95 DclInput "dcl_input" [],
    96 DclInputSgv "dcl_input_sgv" [],
    97 DclInputSiv "dcl_input_siv" [],
    98 DclInputPs "dcl_input_ps" [],
    99 DclInputPsSgv "dcl_input_ps_sgv" [],
    100 DclInputPsSiv "dcl_input_ps_siv" [],
    101 DclOutput "dcl_output" [],
    102 DclOutputSgv "dcl_output_sgv" [],
    103 DclOutputSiv "dcl_output_siv" [],
    104 DclTemps "dcl_temps" [],
    105 DclIndexableTemp "dcl_indexableTemp" [],
    106 DclGlobalFlags "dcl_globalFlags" [],
    108 Lod "lod" [Destination Source Resource Sampler],
    109 Gather4 "gather4" [Destination Source Resource Sampler],
    110 SamplePos "samplepos" [Destination Resource Source],
    111 SampleInfo "sampleinfo" [Destination Resource],
    113 HsDecls "hs_decls" [],
    114 HsControlPointPhase "hs_control_point_phase" [],
    115 HsForkPhase "hs_fork_phase" [],
    116 HsJoinPhase "hs_join_phase" [],
    117 EmitStream "emit_stream" [Stream],
    118 CutStream "cut_stream" [Stream],
    119 EmitThenCutStream "emit_then_cut_stream" [Stream],
    120 InterfaceCall "fcall" [],
    121 BufInfo "bufinfo" [Destination Resource],
    122 DerivRtxCoarse "deriv_rtx_coarse" [Destination Source],
    123 DerivRtxFine "deriv_rtx_fine" [Destination Source],
    124 DerivRtyCoarse "deriv_rty_coarse" [Destination Source],
    125 DerivRtyFine "deriv_rty_fine" [Destination Source],
    126 Gather4C "gather4_c" [Destination Source Resource Sampler Source],
    127 Gather4Po "gather4_po" [Destination Source Source Resource Sampler],
    128 Gather4PoC "gather4_po_c" [Destination Source Source Resource Sampler Source],
    129 Rcp "rcp" [Destination Source],
    130 F32toF16 "f32tof16" [Destination Source],
    131 F16toF32 "f16tof32" [Destination Source],
    132 UAddc "uaddc" [Destination Destination Source Source],
    133 USubb "usubb" [Destination Destination Source Source],
    134 CountBits "countbits" [Destination Source],
    135 FirstBitHi "firstbit_hi" [Destination Source],
    136 FirstBitLo "firstbit_lo" [Destination Source],
    137 FirstBitShi "firstbit_shi" [Destination Source],
    138 Ubfe "ubfe" [Destination Source Source Source],
    139 Ibfe "ibfe" [Destination Source Source Source],
    140 Bfi "bfi" [Destination Source Source Source Source],
    141 BfRev "bfrev" [Destination Source],
    142 Swapc "swapc" [Destination Destination Source Source Source],
    143 DclStream "dcl_stream" [],
    144 DclFunctionBody "dcl_function_body" [],
    145 DclFunctionTable "dcl_function_table" [],
    146 DclInterface "dcl_interface" [],
    147 DclInputControlPointCount "dcl_input_control_point_count" [],
    148 DclOutputControlPointCount "dcl_output_control_point_count" [],
    149 DclTessDomain "dcl_tessellator_domain" [],
    150 DclTessPartitioning "dcl_tessellator_partitioning" [],
    151 DclTessOutputPrimitive "dcl_tessellator_output_primitive" [],
    152 DclHsMaxTessFactor "dcl_hs_max_tessfactor" [],
    153 DclHsForkPhaseInstanceCount "dcl_hs_fork_phase_instance_count" [],
    154 DclHsJoinPhaseInstanceCount "dcl_hs_join_phase_instance_count" [],
    155 DclThreadGroup "dcl_thread_group" [],
    156 DclUavTyped "dcl_uav_typed" [],
    157 DclUavRaw "dcl_uav_raw" [],
    158 DclUavStructured "dcl_uav_structured" [],
    159 DclTgsmRaw "dcl_tgsm_raw" [],
    160 DclTgsmStructured "dcl_tgsm_structured" [],
    161 DclResourceRaw "dcl_resource_raw" [],
    162 DclResourceStructured "dcl_resource_structured" [],
    163 LdUavTyped "ld_uav_typed" [Destination Source Memory],
    164 StoreUavTyped "store_uav_typed" [Memory Source Source],
    165 LdRaw "ld_raw" [Destination Source Memory],
    166 StoreRaw "store_raw" [Memory Source Source],
    167 LdStructured "ld_structured" [Destination Source Source Memory],
    168 StoreStructured "store_structured" [Memory Source Source Source],
    169 AtomicAnd "atomic_and" [Memory Source Source],
    170 AtomicOr "atomic_or" [Memory Source Source],
    171 AtomicXor "atomic_xor" [Memory Source Source],
    172 AtomicCmpStore "atomic_cmp_store" [Memory Source Source Source],
    173 AtomicIAdd "atomic_iadd" [Memory Source Source],
    174 AtomicIMax "atomic_imax" [Memory Source Source],
    175 AtomicIMin "atomic_imin" [Memory Source Source],
    176 AtomicUMax "atomic_umax" [Memory Source Source],
    177 AtomicUMin "atomic_umin" [Memory Source Source],
    178 ImmAtomicAlloc "imm_atomic_alloc" [Destination Memory],
    179 ImmAtomicConsume "imm_atomic_consume" [Destination Memory],
    180 ImmAtomicIAdd "imm_atomic_iadd" [Destination Memory Source Source],
    181 ImmAtomicAnd "imm_atomic_and" [Destination Memory Source Source],
    182 ImmAtomicOr "imm_atomic_or" [Destination Memory Source Source],
    183 ImmAtomicXor "imm_atomic_xor" [Destination Memory Source Source],
    184 ImmAtomicExch "imm_atomic_exch" [Destination Memory Source Source],
    185 ImmAtomicCmpExch "imm_atomic_cmp_exch" [Destination Memory Source Source Source],
    186 ImmAtomicIMax "imm_atomic_imax" [Destination Memory Source Source],
    187 ImmAtomicIMin "imm_atomic_imin" [Destination Memory Source Source],
    188 ImmAtomicUMax "imm_atomic_umax" [Destination Memory Source Source],
    189 ImmAtomicUMin "imm_atomic_umin" [Destination Memory Source Source],
    190 Sync "sync" [],
    191 DAdd "dadd" [Destination Source Source],
    192 DMax "dmax" [Destination Source Source],
    193 DMin "dmin" [Destination Source Source],
    194 DMul "dmul" [Destination Source Source],
    195 DEq "deq" [Destination Source Source],
    196 DGe "dge" [Destination Source Source],
    197 DLt "dlt" [Destination Source Source],
    198 DNe "dne" [Destination Source Source],
    199 DMov "dmov" [Destination Source],
    200 DMovc "dmovc" [Destination Source Source Source],
    201 DtoF "dtof" [Destination Source],
    202 FtoD "ftod" [Destination Source],
    203 EvalSnapped "eval_snapped" [Destination Source Source],
    204 EvalSampleIndex "eval_sample_index" [Destination Source Source],
    205 EvalCentroid "eval_centroid" [Destination Source],
    206 DclGsInstanceCount "dcl_gsinstances" [],
    207 Abort "abort" [],
    208 DebugBreak "debugBreak" [],
    210 DDiv "ddiv" [Destination Source Source],
    211 DFma "dfma" [Destination Source Source Source],
    212 DRcp "drcp" [Destination Source],
    213 Msad "msad" [Destination Source Source Source],
    214 DtoI "dtoi" [Destination Source],
    215 DtoU "dtou" [Destination Source],
    216 ItoD "itod" [Destination Source],
    217 UtoD "utod" [Destination Source],
    219 Gather4Feedback "gather4_s" [Destination Destination Source Resource Sampler],
    220 Gather4CFeedback "gather4_c_s" [Destination Destination Source Resource Sampler Source],
    221 Gather4PoFeedback "gather4_po_s" [Destination Destination Source Source Resource Sampler],
    222 Gather4PoCFeedback "gather4_po_c_s" [Destination Destination Source Source Resource Sampler Source],
    223 LdFeedback "ld_s" [Destination Destination Source Resource],
    224 LdMsFeedback "ldms_s" [Destination Destination Source Resource Source],
    225 LdUavTypedFeedback "ld_uav_typed_s" [Destination Destination Source Memory],
    226 LdRawFeedback "ld_raw_s" [Destination Destination Source Memory],
    227 LdStructuredFeedback "ld_structured_s" [Destination Destination Source Source Memory],
    228 SampleLFeedback "sample_l_s" [Destination Destination Source Resource Sampler Source],
    229 SampleCLzFeedback "sample_c_lz_s" [Destination Destination Source Resource Sampler Source],
    230 SampleClampFeedback "sample_cl_s" [Destination Destination Source Resource Sampler Source],
    231 SampleBClampFeedback "sample_b_cl_s" [Destination Destination Source Resource Sampler Source Source],
    232 SampleDClampFeedback "sample_d_cl_s" [Destination Destination Source Resource Sampler Source Source Source],
    233 SampleCClampFeedback "sample_c_cl_s" [Destination Destination Source Resource Sampler Source Source],
    234 CheckAccessFullyMapped "check_access_fully_mapped" [Destination Source],
}

impl Opcode {
    /// The opcode declares something: its tokens are no instruction.
    pub fn is_declaration(self) -> bool {
        let number = self as u16;
        (Self::DclResource as u16..=Self::DclGlobalFlags as u16).contains(&number)
            || (Self::DclStream as u16..=Self::DclResourceStructured as u16).contains(&number)
            || self == Self::DclGsInstanceCount
    }
}
