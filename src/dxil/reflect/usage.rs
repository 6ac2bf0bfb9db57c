//! Which components of signatures a program uses, by its code: metadata made for validators before 1.5 does not tell, and
//! the signature parts that do may be gone.

use crate::{
    dxil::module::{Body, Constant, Module, Operation, ValueDef, ValueId},
    reflection::{EntryPointInterface, SignatureElement, Stage},
};

/// Sets the used components of an entry point's signature elements.
pub(super) fn mark(module: &Module, entry: &mut EntryPointInterface) {
    let signatures = [&mut entry.inputs, &mut entry.outputs, &mut entry.patch_constants];
    for element in signatures.into_iter().flatten() {
        element.used_mask = 0;
    }
    for body in module.functions.iter().filter_map(|function| function.body.as_ref()) {
        for instruction in &body.instructions {
            let Operation::Call { callee, arguments } = &instruction.op else { continue };
            if !module.functions[callee.index()].name.starts_with("dx.op.") {
                continue;
            }
            let constant = |at: usize| arguments.get(at).and_then(|&value| integer(module, body, value));
            let Some(list) = constant(0).and_then(|operation| accessed(operation, entry)) else { continue };
            // The operation's number, the element's, its row (which may be computed), and its column.
            let (Some(element), Some(column)) = (constant(1), constant(3)) else { continue };
            let element = usize::try_from(element).ok().and_then(|element| list.get_mut(element));
            if let Some(element) = element
                && (0..4).contains(&column)
            {
                element.used_mask |= (1 << column << element.first_component()) & element.mask;
            }
        }
    }
}

/// The signature that an operation (`DXIL::OpCode`) reads or writes.
fn accessed(operation: i64, entry: &mut EntryPointInterface) -> Option<&mut [SignatureElement]> {
    match operation {
        // LoadInput, EvalSnapped, EvalSampleIndex, EvalCentroid, AttributeAtVertex
        4 | 87..=89 | 137 => Some(&mut entry.inputs),
        // StoreOutput, StoreVertexOutput
        5 | 171 => Some(&mut entry.outputs),
        // LoadPatchConstant: what a hull shader reads again is used by what it writes.
        104 if entry.stage == Stage::Domain => Some(&mut entry.patch_constants),
        // StorePatchConstant, StorePrimitiveOutput
        106 | 172 => Some(&mut entry.patch_constants),
        _ => None,
    }
}

fn integer(module: &Module, body: &Body, value: ValueId) -> Option<i64> {
    match module.value(Some(body), value)?.def {
        ValueDef::Constant(Constant::Integer(number)) => Some(number),
        ValueDef::Constant(Constant::Null) => Some(0),
        _ => None,
    }
}
