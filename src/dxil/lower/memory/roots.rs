//! Which memory an address may lead to.

use std::collections::{HashMap, HashSet};

use super::llvm;
use crate::dxil::{lower::record::RECORD_SPACE, module::Expression};

/// Most values between an address and its roots, for files whose addresses make long chains.
const MAX_STEPS: usize = 1024;

/// Variables that one address may lead into, at most: an access is as many.
pub const MAX_VARIABLES: usize = 64;

/// LLVM's address space of group-shared memory.
pub const SHARED_SPACE: u32 = 3;

/// Stands for a function where there is none.
const NO_FUNCTION: llvm::FunctionId = llvm::FunctionId(u32::MAX);

/// Where an address leads to in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Root {
    /// A global variable.
    Global(llvm::GlobalId),
    /// An alloca: function and number of the instruction.
    Alloca(llvm::FunctionId, u32),
    /// What a function's parameter points to, if it is memory of its own: see `parameter_storage`.
    Parameter(llvm::FunctionId, u32),
    /// What a function returns.
    Result(llvm::FunctionId),
}

/// What is known of all addresses of a module.
pub struct Roots {
    /// Calls of functions to which addresses of group-shared memory are passed: callers and arguments.
    calls: HashMap<llvm::FunctionId, Vec<(llvm::FunctionId, Vec<llvm::ValueId>)>>,
    /// Memory that is laid out in words: it is accessed as another type than it was declared with, or an address may
    /// lead there or to other memory that is.
    reinterpreted: HashSet<Root>,
}

/// Addresses of this type are passed as such: what they lead to is no copy.
pub fn is_shared(module: &llvm::Module, ty: llvm::TypeId) -> bool {
    matches!(module.types.get(ty), Some(llvm::Type::Pointer { space: SHARED_SPACE, .. }))
}

impl Roots {
    /// Looks at all addresses of a module.
    pub fn new(module: &llvm::Module) -> Self {
        let mut roots = Self { calls: calls(module), reinterpreted: HashSet::new() };
        roots.reinterpreted = roots.casts(module);
        roots.lay_out_alike(module, &roots.groups(module));
        roots
    }

    /// Some memory is laid out in words.
    pub fn is_reinterpreted(&self, root: Root) -> bool {
        self.reinterpreted.contains(&root)
    }

    /// What an address of a function can lead to.
    pub fn of(&self, module: &llvm::Module, function: llvm::FunctionId, value: llvm::ValueId) -> Vec<Root> {
        let mut roots = Vec::new();
        let mut seen = HashSet::new();
        let mut work = vec![(function, value)];
        while let Some((function, value)) = work.pop() {
            if !seen.insert((function, value)) {
                continue;
            }
            if seen.len() > MAX_STEPS || work.len() > MAX_STEPS {
                // Whoever asks for the roots finds none, and refuses.
                return Vec::new();
            }
            let body = module.functions.get(function.index()).and_then(|function| function.body.as_ref());
            let mut add = |root: Root| {
                if !roots.contains(&root) {
                    roots.push(root);
                }
            };
            let Some(value) = module.value(body, value) else { continue };
            match &value.def {
                llvm::ValueDef::Global(global) => add(Root::Global(*global)),
                llvm::ValueDef::Argument(number) => match self.calls.get(&function) {
                    Some(calls) if is_shared(module, value.ty) => {
                        let argument = |(caller, arguments): &(llvm::FunctionId, Vec<llvm::ValueId>)| {
                            arguments.get(*number as usize).map(|argument| (*caller, *argument))
                        };
                        work.extend(calls.iter().filter_map(argument));
                    }
                    _ => add(Root::Parameter(function, *number)),
                },
                llvm::ValueDef::Constant(llvm::Constant::Expression(expression)) => match expression {
                    Expression::ElementPointer { base, .. } | Expression::Cast(_, base) => work.push((function, *base)),
                    Expression::Select(_, accept, reject) => work.extend([(function, *accept), (function, *reject)]),
                    _ => {}
                },
                llvm::ValueDef::Instruction(number) => {
                    let instruction = body.and_then(|body| body.instructions.get(*number as usize));
                    match instruction.map(|instruction| &instruction.op) {
                        Some(llvm::Operation::Allocate { .. }) => add(Root::Alloca(function, *number)),
                        Some(llvm::Operation::ElementPointer { base, .. } | llvm::Operation::Cast(_, base)) => {
                            work.push((function, *base));
                        }
                        Some(llvm::Operation::Select { accept, reject, .. }) => {
                            work.extend([(function, *accept), (function, *reject)]);
                        }
                        Some(llvm::Operation::Phi(incoming)) => {
                            work.extend(incoming.iter().map(|(value, _)| (function, *value)));
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        roots
    }

    /// Parameters of a function that may lead to what it writes, or passes on.
    pub fn written(&self, module: &llvm::Module, function: llvm::FunctionId) -> HashSet<u32> {
        let mut written = HashSet::new();
        let data = &module.functions[function.index()];
        let Some(body) = &data.body else {
            // Somebody else knows.
            let count = match module.types.get(data.ty) {
                Some(llvm::Type::Function { params, .. }) => params.len(),
                _ => 0,
            };
            return (0..count as u32).collect();
        };
        for instruction in &body.instructions {
            let places: &[llvm::ValueId] = match &instruction.op {
                llvm::Operation::Store { pointer, .. }
                | llvm::Operation::AtomicReadModifyWrite { pointer, .. }
                | llvm::Operation::CompareExchange { pointer, .. } => std::slice::from_ref(pointer),
                llvm::Operation::Call { arguments, .. } => arguments,
                _ => continue,
            };
            for &place in places {
                let is_address = |value: &llvm::Value| module.types.pointee(value.ty).is_some();
                if !module.value(Some(body), place).is_some_and(is_address) {
                    continue;
                }
                let roots = self.of(module, function, place);
                // What leads to too much to be followed may lead anywhere.
                let all = roots.is_empty().then_some(0..body.values.len() as u32);
                written.extend(all.into_iter().flatten());
                written.extend(roots.iter().filter_map(|root| match root {
                    Root::Parameter(_, number) => Some(*number),
                    _ => None,
                }));
            }
        }
        written
    }

    /// The roots of all memory that is accessed as another type than it was declared with.
    fn casts(&self, module: &llvm::Module) -> HashSet<Root> {
        let mut roots = HashSet::new();
        let differs = |from: llvm::TypeId, to: llvm::TypeId| {
            let leaf = |pointer: llvm::TypeId| match module.types.leaf(module.types.pointee(pointer)?) {
                llvm::Leaf::Uniform(leaf) => module.types.get(leaf),
                _ => None,
            };
            // Lifetime markers take bytes.
            let bytes = leaf(to) == Some(&llvm::Type::Integer(8));
            !bytes && leaf(from) != leaf(to)
        };
        let mut check = |function: llvm::FunctionId, from: &llvm::Value, value: llvm::ValueId, to: llvm::TypeId| {
            if module.types.pointee(from.ty).is_some() && differs(from.ty, to) {
                roots.extend(self.of(module, function, value));
            }
        };
        for (function, body, value) in constants(module) {
            if let llvm::ValueDef::Constant(llvm::Constant::Expression(Expression::Cast(_, operand))) = &value.def
                && let Some(from) = module.value(body, *operand)
            {
                check(function, from, *operand, value.ty);
            }
        }
        let mut payloads = Vec::new();
        for (function, body) in bodies(module) {
            for instruction in &body.instructions {
                match &instruction.op {
                    llvm::Operation::Cast(_, operand) => {
                        if let Some(from) = module.value(Some(body), *operand) {
                            check(function, from, *operand, instruction.ty);
                        }
                    }
                    // A mesh shader finds the payload in words.
                    llvm::Operation::Call { callee, arguments }
                        if module.functions[callee.index()].name.starts_with("dx.op.dispatchMesh") =>
                    {
                        payloads.extend(arguments.last().map(|payload| (function, *payload)));
                    }
                    _ => {}
                }
            }
        }
        for (function, payload) in payloads {
            roots.extend(self.of(module, function, payload));
        }
        roots
    }

    /// Memory that one address can lead to, where it is more than one and not more than is permitted.
    fn groups(&self, module: &llvm::Module) -> Vec<Vec<Root>> {
        let mut groups = Vec::new();
        let is_address = |ty: llvm::TypeId| matches!(module.types.get(ty), Some(llvm::Type::Pointer { space, .. }) if *space != RECORD_SPACE);
        let mut add = |roots: Vec<Root>| {
            if (2..=MAX_VARIABLES).contains(&roots.len()) {
                groups.push(roots);
            }
        };
        for (function, _, value) in constants(module) {
            if let llvm::ValueDef::Constant(llvm::Constant::Expression(Expression::Select(_, accept, reject))) =
                &value.def
                && is_address(value.ty)
            {
                // Both lead to all that the selection does, which has no number here.
                let mut roots = self.of(module, function, *accept);
                roots.extend(self.of(module, function, *reject));
                add(roots);
            }
        }
        for (function, body) in bodies(module) {
            for instruction in &body.instructions {
                if let (llvm::Operation::Phi(_) | llvm::Operation::Select { .. }, Some(result)) =
                    (&instruction.op, instruction.result)
                    && is_address(instruction.ty)
                {
                    add(self.of(module, function, result));
                }
            }
            if self.calls.contains_key(&function) {
                for (number, value) in (0..).zip(&body.values) {
                    if matches!(value.def, llvm::ValueDef::Argument(_)) && is_shared(module, value.ty) {
                        add(self.of(module, function, llvm::ValueId(body.first + number)));
                    }
                }
            }
        }
        groups
    }

    /// Lays out memory in words that one address can lead to, unless all of it is numbers of one type.
    fn lay_out_alike(&mut self, module: &llvm::Module, groups: &[Vec<Root>]) {
        let alike = |group: &[Root]| {
            let first = group.first().and_then(|&root| leaf(module, root));
            first.is_some() && group.iter().all(|&root| leaf(module, root) == first)
        };
        let mut groups_of: HashMap<Root, Vec<usize>> = HashMap::new();
        let mut work = Vec::new();
        for (number, group) in groups.iter().enumerate() {
            group.iter().for_each(|&root| groups_of.entry(root).or_default().push(number));
            if !alike(group) || group.iter().any(|root| self.reinterpreted.contains(root)) {
                work.push(number);
            }
        }
        let mut done = vec![false; groups.len()];
        while let Some(number) = work.pop() {
            if std::mem::replace(&mut done[number], true) {
                continue;
            }
            for root in &groups[number] {
                // What is laid out in words already has led to its other groups.
                if self.reinterpreted.insert(*root) {
                    work.extend(&groups_of[root]);
                }
            }
        }
    }
}

/// The type of all numbers in some memory.
fn leaf(module: &llvm::Module, root: Root) -> Option<&llvm::Type> {
    let ty = match root {
        Root::Global(global) => module.globals.get(global.index())?.ty,
        Root::Alloca(function, number) => {
            let body = module.functions.get(function.index())?.body.as_ref()?;
            match body.instructions.get(number as usize)?.op {
                llvm::Operation::Allocate { ty, .. } => ty,
                _ => return None,
            }
        }
        Root::Parameter(..) | Root::Result(_) => return None,
    };
    match module.types.leaf(ty) {
        llvm::Leaf::Uniform(leaf) => module.types.get(leaf),
        _ => None,
    }
}

fn bodies(module: &llvm::Module) -> impl Iterator<Item = (llvm::FunctionId, &llvm::Body)> {
    let functions = module.functions.iter().enumerate();
    functions.filter_map(|(index, function)| Some((llvm::FunctionId(index as u32), function.body.as_ref()?)))
}

/// All values that are constants or may be, with the function that they are constants of.
fn constants(module: &llvm::Module) -> impl Iterator<Item = (llvm::FunctionId, Option<&llvm::Body>, &llvm::Value)> {
    let own = module.values.iter().map(|value| (NO_FUNCTION, None, value));
    let of_bodies = |(function, body)| {
        let body: &llvm::Body = body;
        body.values.iter().map(move |value| (function, Some(body), value))
    };
    own.chain(bodies(module).flat_map(of_bodies))
}

/// Calls of functions to which addresses of group-shared memory are passed.
fn calls(module: &llvm::Module) -> HashMap<llvm::FunctionId, Vec<(llvm::FunctionId, Vec<llvm::ValueId>)>> {
    let takes_shared = |function: &llvm::Function| match module.types.get(function.ty) {
        Some(llvm::Type::Function { params, .. }) => params.iter().any(|&param| is_shared(module, param)),
        _ => false,
    };
    let mut calls: HashMap<_, Vec<_>> = HashMap::new();
    if !bodies(module).any(|(function, _)| takes_shared(&module.functions[function.index()])) {
        return calls;
    }
    for (caller, body) in bodies(module) {
        for instruction in &body.instructions {
            if let llvm::Operation::Call { callee, arguments } = &instruction.op
                && let function = &module.functions[callee.index()]
                && function.body.is_some()
                && takes_shared(function)
            {
                calls.entry(*callee).or_default().push((caller, arguments.clone()));
            }
        }
    }
    calls
}
