//! Nodes of work graphs, which become compute shaders: see [`crate::reflection::node`] for what their host binds.
//!
//! A handle of an output is the byte of its slot in the buffer of records, a handle of records the byte of the first:
//! both are numbers, so that they may go through phis and calls as any other.

use super::Call;
use crate::{
    Error, Result,
    dxil::{
        lower::{FunctionLowering, Lowered, NOWHERE, RecordPointer},
        module as llvm,
    },
    ir::{
        AtomicOp, Barrier, BinaryOp, BindingId, BufferAddress, CompareOp, Op, Scalar, Type, Value, VariableId,
        VariableSpace,
    },
    reflection::{NODE_SLOT_SIZE, NODE_SPACE, NodeFacts, NodeIo, NodeLaunch, ResourceClass, SystemValue},
};

type Lowering<'m, 'a> = FunctionLowering<'m, 'a>;

/// Components of the first row of the launch's constants.
const FIRST_RECORD: u8 = 0;
const RECORD_COUNT: u8 = 1;
const RECURSION_LEVELS: u8 = 2;
const CROSS_GROUP_SHARING: u8 = 3;

/// Components of an output's row.
const FIRST_SLOT: u8 = 0;
const SLOTS: u8 = 1;

/// Bytes of the words of a slot.
const GIVEN_OUT: u32 = 0;
const CAPACITY: u32 = 4;
const FIRST_OUTPUT: u32 = 8;
const EXISTS: u32 = 12;

/// Variables of a group: what its first thread hands to the others.
const ALLOCATION: &str = "node_allocation";
const LAST_GROUP: &str = "node_last_group";

impl<'a> FunctionLowering<'_, 'a> {
    /// What the node that the function is declares.
    fn node(&self) -> Result<&'a NodeFacts> {
        let node = self.entry()?.facts.node.as_deref();
        node.ok_or_else(|| Error::malformed("operation of a node in another stage"))
    }

    /// The node's input.
    fn node_input(&self) -> Result<&'a NodeIo> {
        self.node()?.inputs.first().ok_or_else(|| Error::malformed("node without an input"))
    }

    fn node_handle(&mut self, class: ResourceClass) -> Result<Value> {
        let binding = self.parent.interface.binding_at(class, NODE_SPACE, 0);
        let binding: BindingId = binding.ok_or_else(|| Error::internal("the interface lacks the bindings of nodes"))?;
        let index = self.function.i32(0);
        Ok(self.build().push(Op::Handle { binding, index, non_uniform: false }, Type::Handle))
    }

    /// The buffer of records.
    pub fn records(&mut self) -> Result<Value> {
        self.node_handle(ResourceClass::Uav)
    }

    /// A word of the launch's constants.
    fn launch_word(&mut self, row: u32, component: u8) -> Result<Value> {
        let handle = self.node_handle(ResourceClass::Cbv)?;
        let row = self.function.i32(row);
        Ok(self.build().push(Op::LoadConstant { handle, row, offset: component * 4 }, Type::I32))
    }

    /// A word of a slot.
    fn slot_word(&mut self, slot: Value, word: u32) -> Result<Value> {
        let handle = self.records()?;
        let offset = self.function.i32(word);
        let address = BufferAddress::Byte(self.add(slot, offset));
        Ok(self.build().push(Op::LoadBuffer { handle, address }, Type::I32))
    }

    /// Adds to a word of the buffer of records; what was there before.
    fn add_to_record_word(&mut self, byte: Value, value: Value) -> Result<Value> {
        let handle = self.records()?;
        let (op, address) = (AtomicOp::Add, BufferAddress::Byte(byte));
        Ok(self.build().push(Op::AtomicBuffer { op, handle, address, value, compare: None }, Type::I32))
    }

    fn system_component(&mut self, value: SystemValue, component: u8) -> Value {
        let mut build = self.build();
        let vector = build.push(Op::SystemValue(value), Type::Vector(Scalar::I32, 3));
        build.extract(vector, component)
    }

    /// Number of the thread in its group.
    fn group_index(&mut self) -> Value {
        self.build().push(Op::SystemValue(SystemValue::GroupIndex), Type::I32)
    }

    /// Number of the group's first record among those of the launch.
    fn first_record_of_group(&mut self) -> Result<Value> {
        let node = self.node()?;
        Ok(match node.launch {
            NodeLaunch::Coalescing => {
                let group = self.system_component(SystemValue::GroupId, 0);
                let most = self.node_input()?.max_records.unwrap_or(1).max(1);
                self.scale(group, most)
            }
            NodeLaunch::Thread => self.system_component(SystemValue::DispatchThreadId, 0),
            NodeLaunch::Broadcasting => self.function.i32(0),
            NodeLaunch::Mesh => {
                return Err(Error::unsupported("mesh node: a preview compiler's, which no Shader Model took over"));
            }
        })
    }

    /// There is a record for the thread of a thread node.
    pub fn has_record(&mut self) -> Result<Value> {
        let thread = self.first_record_of_group()?;
        let count = self.launch_word(0, RECORD_COUNT)?;
        Ok(self.build().compare(CompareOp::ULt, thread, count))
    }

    /// A variable of the group, of one `i32`.
    fn group_word(&mut self, name: &str) -> VariableId {
        self.parent.named_variable(name, VariableSpace::GroupShared, 1)
    }

    /// All threads of the group have come here, and see what the others wrote for it.
    fn meet(&mut self) {
        let barrier = Barrier { group_sync: true, group_shared: true, uav_group: false, uav_global: false };
        self.build().effect(Op::Barrier(barrier));
    }

    /// What the first thread of the group has of a value. All threads come here.
    fn first_thread_value(&mut self, value: Value) -> Value {
        let variable = self.group_word(ALLOCATION);
        let index = self.group_index();
        // Who still reads what was there before is done.
        self.meet();
        // Out of range for all other threads: their writes are dropped.
        self.build().effect(Op::StoreVariable { variable, index, component: None, value });
        self.meet();
        let index = self.function.i32(0);
        self.build().push(Op::LoadVariable { variable, index, component: None }, Type::I32)
    }

    /// A byte for the first thread of the group, and none for the others: their accesses are dropped.
    fn for_first_thread(&mut self, byte: Value) -> Value {
        let index = self.group_index();
        let mut build = self.build();
        let (zero, nowhere) = (build.i32(0), build.i32(NOWHERE));
        let first = build.compare(CompareOp::IEq, index, zero);
        build.select(first, byte, nowhere)
    }

    /// The declared output that a handle is of: the number in the metadata, as the module gives it.
    fn declared_output(&self, mut handle: llvm::ValueId) -> Result<(u32, &'a NodeIo)> {
        const INDEX_NODE_HANDLE: i64 = 248;
        const ANNOTATE_NODE_HANDLE: i64 = 249;
        const CREATE_NODE_OUTPUT_HANDLE: i64 = 247;
        // A file's handles may be made of each other many times over.
        for _ in 0..8 {
            let value = self.parent.module.value(Some(self.body), handle);
            let Some(llvm::ValueDef::Instruction(number)) = value.map(|value| &value.def) else { break };
            let instruction = self.body.instructions.get(*number as usize);
            let Some(llvm::Operation::Call { arguments, .. }) = instruction.map(|instruction| &instruction.op) else {
                break;
            };
            let [number, operand, ..] = arguments[..] else { break };
            match self.as_integer(number) {
                Some(ANNOTATE_NODE_HANDLE | INDEX_NODE_HANDLE) => handle = operand,
                Some(CREATE_NODE_OUTPUT_HANDLE) => return self.output(self.as_integer(operand)),
                _ => break,
            }
        }
        Err(Error::unsupported("output of a node that is chosen at run time"))
    }

    /// A declared output.
    fn output(&self, number: Option<i64>) -> Result<(u32, &'a NodeIo)> {
        let number = number.and_then(|number| u32::try_from(number).ok());
        let outputs = &self.node()?.outputs;
        let output = number.and_then(|number| Some((number, outputs.get(number as usize)?)));
        output.ok_or_else(|| Error::malformed("no such output of the node"))
    }

    /// A handle of an output or of records: a byte.
    fn node_byte(&mut self, call: &Call<'_>, index: usize) -> Result<Value> {
        call.i32(self, index)
    }
}

/// Number of the output: its first slot.
pub fn create_output_handle(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let (number, _) = f.output(Some(i64::from(call.constant(f, 0)?)))?;
    Ok(Some(Lowered::scalar(f.launch_word(1 + number, FIRST_SLOT)?)))
}

/// Handle of an array of outputs, index.
pub fn index_handle(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let (number, _) = f.declared_output(call.argument(0)?)?;
    let first = f.node_byte(call, 0)?;
    let index = call.i32(f, 1)?;
    let count = f.launch_word(1 + number, SLOTS)?;
    let offset = f.scale(index, NODE_SLOT_SIZE);
    let slot = f.add(first, offset);
    let mut build = f.build();
    let exists = build.compare(CompareOp::ULt, index, count);
    let nowhere = build.i32(NOWHERE);
    Ok(Some(Lowered::scalar(build.select(exists, slot, nowhere))))
}

/// Handle of an output or of records, properties that the metadata has too.
pub fn annotate(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    Ok(Some(Lowered::scalar(f.node_byte(call, 0)?)))
}

/// Number of the input, of which there is one: the first record of the group or thread.
pub fn create_input_handle(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    if call.constant(f, 0)? != 0 {
        return Err(Error::malformed("no such input of the node"));
    }
    let size = f.node_input()?.record_size;
    let number = f.first_record_of_group()?;
    let first = f.launch_word(0, FIRST_RECORD)?;
    let offset = f.scale(number, size);
    Ok(Some(Lowered::scalar(f.add(first, offset))))
}

/// Handle of an output, number of records, whether each thread wants its own.
pub fn allocate(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let (_, output) = f.declared_output(call.argument(0)?)?;
    let slot = f.node_byte(call, 0)?;
    let count = call.i32(f, 1)?;
    let given_out = match call.constant(f, 2)? {
        0 => {
            let word = f.for_first_thread(slot);
            let before = f.add_to_record_word(word, count)?;
            f.first_thread_value(before)
        }
        _ => f.add_to_record_word(slot, count)?,
    };
    let capacity = f.slot_word(slot, CAPACITY)?;
    let base = f.slot_word(slot, FIRST_OUTPUT)?;
    let offset = f.scale(given_out, output.record_size);
    let first = f.add(base, offset);
    let end = f.add(given_out, count);
    let mut build = f.build();
    // Neither beyond the room that there is, nor round it.
    let begins = build.compare(CompareOp::ULe, given_out, end);
    let ends = build.compare(CompareOp::ULe, end, capacity);
    let fits = build.binary(BinaryOp::And, begins, ends);
    let nowhere = build.i32(NOWHERE);
    Ok(Some(Lowered::scalar(build.select(fits, first, nowhere))))
}

/// Handle of records, number of one of them: its address.
pub fn record(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let pointee = f.parent.module.types.pointee(call.ty);
    let pointee = pointee.ok_or_else(|| Error::malformed("record is no address"))?;
    let first = f.node_byte(call, 0)?;
    let number = call.i32(f, 1)?;
    let size = f.parent.record_layout().size(pointee);
    let offset = f.scale(number, size);
    Ok(Some(Lowered::Record(RecordPointer { byte: f.add(first, offset), pointee })))
}

/// Handle of an output, number of records to count, whether each thread counts its own.
pub fn increment_output_count(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let slot = f.node_byte(call, 0)?;
    let count = call.i32(f, 1)?;
    let slot = if call.constant(f, 2)? == 0 { f.for_first_thread(slot) } else { slot };
    let offset = f.function.i32(GIVEN_OUT);
    let word = f.add(slot, offset);
    f.add_to_record_word(word, count)?;
    Ok(None)
}

/// Handle of records, which the host takes when the launch has ended.
pub fn output_complete(_f: &mut Lowering<'_, '_>, _call: &Call<'_>) -> Result<Option<Lowered>> {
    Ok(None)
}

/// Handle of the input.
pub fn input_record_count(f: &mut Lowering<'_, '_>, _call: &Call<'_>) -> Result<Option<Lowered>> {
    if f.node()?.launch != NodeLaunch::Coalescing {
        return Ok(Some(Lowered::scalar(f.function.i32(1))));
    }
    let most = f.node_input()?.max_records.unwrap_or(1).max(1);
    let first = f.first_record_of_group()?;
    let count = f.launch_word(0, RECORD_COUNT)?;
    let mut build = f.build();
    let first = build.binary(BinaryOp::UMin, first, count);
    let rest = build.binary(BinaryOp::ISub, count, first);
    let most = build.i32(most);
    Ok(Some(Lowered::scalar(build.binary(BinaryOp::UMin, rest, most))))
}

/// Handle of the input: whether no other group uses the record any more. Each thread of all groups adds 1 to a word;
/// the group of the thread that comes last is the last.
pub fn finished_cross_group_sharing(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let node = f.node()?;
    let threads = f.entry()?.facts.group_size().iter().fold(1u32, |threads, side| threads.saturating_mul(*side));
    let groups = match (node.dispatch_grid, f.node_input()?.dispatch_grid) {
        (Some(grid), _) => f.function.i32(grid.iter().fold(1u32, |groups, side| groups.saturating_mul(*side))),
        (None, Some(field)) => {
            let record = f.node_byte(call, 0)?;
            let mut groups = f.function.i32(1);
            for component in 0..u32::from(field.components) {
                let width = match field.component {
                    crate::reflection::ComponentType::U16 | crate::reflection::ComponentType::I16 => 2,
                    _ => 4,
                };
                let side = f.grid_side(record, field.offset + component * width, width)?;
                groups = f.build().binary(BinaryOp::IMul, groups, side);
            }
            groups
        }
        (None, None) => return Err(Error::malformed("node that shares its input without a grid")),
    };
    let all = f.scale(groups, threads);
    let last = f.group_word(LAST_GROUP);
    let barrier = Barrier { group_sync: true, group_shared: true, uav_group: true, uav_global: true };
    // What the group did to the record comes before.
    f.build().effect(Op::Barrier(barrier));
    let word = f.launch_word(0, CROSS_GROUP_SHARING)?;
    let one = f.function.i32(1);
    let before = f.add_to_record_word(word, one)?;
    let done = f.add(before, one);
    let mut build = f.build();
    let is_last = build.compare(CompareOp::IEq, done, all);
    // Out of range for all others, whose writes are dropped; the variable is 0 at first.
    let (zero, beyond) = (build.i32(0), build.i32(1));
    let index = build.select(is_last, zero, beyond);
    build.effect(Op::StoreVariable { variable: last, index, component: None, value: one });
    f.build().effect(Op::Barrier(barrier));
    let mut build = f.build();
    let word = build.push(Op::LoadVariable { variable: last, index: zero, component: None }, Type::I32);
    Ok(Some(Lowered::scalar(build.compare(CompareOp::INe, word, zero))))
}

/// Handle of an output.
pub fn output_is_valid(f: &mut Lowering<'_, '_>, call: &Call<'_>) -> Result<Option<Lowered>> {
    let slot = f.node_byte(call, 0)?;
    let exists = f.slot_word(slot, EXISTS)?;
    let mut build = f.build();
    let zero = build.i32(0);
    Ok(Some(Lowered::scalar(build.compare(CompareOp::INe, exists, zero))))
}

/// Nothing.
pub fn remaining_recursion_levels(f: &mut Lowering<'_, '_>, _call: &Call<'_>) -> Result<Option<Lowered>> {
    Ok(Some(Lowered::scalar(f.launch_word(0, RECURSION_LEVELS)?)))
}
