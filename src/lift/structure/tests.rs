//! Trees against the graphs they were made from: both are carried out, and must do the same.

use std::collections::HashMap;

use proptest::prelude::*;
use smallvec::SmallVec;

use super::{Condition, Node, Tree, structure};
use crate::ir::{
    BinaryOp, Block, Builder, Cfg, Dominators, Edge, Function, Op, Terminator, Type, Value, ValueDef, WaveOp,
    cfg::tests::graph, passes::make_reducible,
};

/// Steps after which a run is cut off: the graphs may loop forever.
const STEPS: usize = 300;

/// Values at run time, and what was computed so far.
struct Machine<'f> {
    function: &'f Function,
    values: HashMap<Value, u32>,
    /// Sums, with the instructions that gave them.
    trace: Vec<(Value, u32)>,
    /// Makes choices.
    seed: u64,
}

impl<'f> Machine<'f> {
    fn new(function: &'f Function, seed: u64) -> Self {
        Self { function, values: HashMap::new(), trace: Vec::new(), seed }
    }

    fn get(&self, value: Value) -> u32 {
        match &self.function.values[value.index()].def {
            ValueDef::Constant(constant) => constant.0[0] as u32,
            _ => *self.values.get(&value).unwrap_or_else(|| panic!("{value:?} was never computed")),
        }
    }

    fn random(&mut self) -> u32 {
        self.seed = self.seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.seed >> 40) as u32
    }

    fn block(&mut self, block: Block) {
        for &value in &self.function.blocks[block.index()].insts {
            let result = match self.function.op(value) {
                Some(Op::IsHelperLane) => self.random() & 1,
                Some(Op::Wave(WaveOp::LaneIndex, _)) => self.random() & 7,
                Some(&Op::Binary(BinaryOp::IAdd, a, b)) => {
                    let sum = self.get(a).wrapping_mul(3).wrapping_add(self.get(b));
                    self.trace.push((value, sum));
                    sum
                }
                op => panic!("not in these graphs: {op:?}"),
            };
            self.values.insert(value, result);
        }
    }

    fn assign(&mut self, block: Block, args: &[Value]) {
        let args: Vec<u32> = args.iter().map(|arg| self.get(*arg)).collect();
        self.values.extend(self.function.blocks[block.index()].params.iter().copied().zip(args));
    }

    /// Carries out the graph.
    fn graph(&mut self) {
        let mut block = self.function.entry;
        while self.trace.len() < STEPS {
            self.block(block);
            let edge = match &self.function.blocks[block.index()].terminator {
                Terminator::Jump(edge) => edge,
                Terminator::Branch { condition, accept, reject } => {
                    if self.get(*condition) != 0 {
                        accept
                    } else {
                        reject
                    }
                }
                Terminator::Switch { selector, cases, default } => {
                    let selector = u64::from(self.get(*selector));
                    cases.iter().find(|case| case.0 == selector).map_or(default, |case| &case.1)
                }
                Terminator::Return(_) => return,
                Terminator::Unreachable => panic!("reached the unreachable"),
            };
            self.assign(edge.block, &edge.args);
            block = edge.block;
        }
    }

    /// Carries out the tree.
    fn tree(&mut self, tree: &Tree) {
        let mut flags = vec![false; tree.flags as usize];
        let flow = self.nodes(&tree.body, &mut flags);
        assert!(matches!(flow, Flow::Return), "a path of the tree ends in {flow:?}");
    }

    fn nodes(&mut self, nodes: &[Node], flags: &mut [bool]) -> Flow {
        for node in nodes {
            let flow = match node {
                Node::Block(block) => {
                    self.block(*block);
                    if self.trace.len() >= STEPS { Flow::Return } else { Flow::Fall }
                }
                Node::Assign { block, args } => {
                    self.assign(*block, args);
                    Flow::Fall
                }
                Node::SetFlag(flag, value) => {
                    flags[flag.0 as usize] = *value;
                    Flow::Fall
                }
                Node::If { condition, accept, reject } => {
                    let condition = match condition {
                        Condition::Value(value) => self.get(*value) != 0,
                        Condition::Flag(flag) => flags[flag.0 as usize],
                    };
                    self.nodes(if condition { accept } else { reject }, flags)
                }
                Node::Switch { selector, cases, default } => {
                    let selector = u64::from(self.get(*selector));
                    let nodes = cases.iter().find(|case| case.0.contains(&selector)).map_or(default, |case| &case.1);
                    self.nodes(nodes, flags).left()
                }
                Node::Breakable(nodes) => self.nodes(nodes, flags).left(),
                Node::Loop(nodes) => loop {
                    match self.nodes(nodes, flags) {
                        Flow::Fall | Flow::Continue => {}
                        flow => break flow.left(),
                    }
                },
                Node::Break => Flow::Break,
                Node::Continue => Flow::Continue,
                Node::Return(_) => Flow::Return,
                Node::Unreachable => panic!("reached the unreachable"),
            };
            if !matches!(flow, Flow::Fall) {
                return flow;
            }
        }
        Flow::Fall
    }
}

/// How a list of nodes was left.
#[derive(Debug)]
enum Flow {
    Fall,
    Break,
    Continue,
    Return,
}

impl Flow {
    /// Behind something that `Break` leaves.
    fn left(self) -> Self {
        match self {
            Self::Break => Self::Fall,
            other => other,
        }
    }
}

/// What naga demands of statements: nothing behind one that leaves, and something to leave.
fn assert_well_formed(nodes: &[Node], breakable: bool, in_loop: bool) {
    for (index, node) in nodes.iter().enumerate() {
        let ends = match node {
            Node::If { accept, reject, .. } => {
                assert_well_formed(accept, breakable, in_loop);
                assert_well_formed(reject, breakable, in_loop);
                false
            }
            Node::Switch { cases, default, .. } => {
                cases.iter().for_each(|case| assert_well_formed(&case.1, true, in_loop));
                assert_well_formed(default, true, in_loop);
                false
            }
            Node::Loop(nodes) => {
                assert_well_formed(nodes, true, true);
                false
            }
            Node::Breakable(nodes) => {
                assert_well_formed(nodes, true, in_loop);
                false
            }
            Node::Break => {
                assert!(breakable, "Break with nothing to leave");
                true
            }
            Node::Continue => {
                assert!(in_loop, "Continue outside of loops");
                true
            }
            Node::Return(_) | Node::Unreachable => true,
            Node::Block(_) | Node::Assign { .. } | Node::SetFlag(..) => false,
        };
        assert!(!ends || index + 1 == nodes.len(), "nodes behind {node:?}");
    }
}

/// One block of a random graph: what its numbers mean is up to [`random_function`].
#[derive(Clone, Debug)]
struct Seed {
    kind: u8,
    targets: [u8; 6],
    params: u8,
    picks: [u8; 24],
}

fn seeds(blocks: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Seed>> {
    let seed = (any::<u8>(), any::<[u8; 6]>(), 0..3u8, any::<[u8; 24]>())
        .prop_map(|(kind, targets, params, picks)| Seed { kind, targets, params, picks });
    prop::collection::vec(seed, blocks)
}

/// A function of any graph. With `forward`, edges backwards lead only to dominators, so that it is reducible.
fn random_function(seeds: &[Seed], forward: bool) -> Function {
    let mut function = Function::new("random", Type::Void);
    let count = seeds.len();
    for seed in &seeds[1..] {
        let block = function.add_block();
        for _ in 0..seed.params {
            function.add_param(block, Type::I32);
        }
    }
    // Each block's random values stand before its sum, on which nothing in the graph depends but arguments.
    let mut choices = Vec::new();
    for (index, seed) in seeds.iter().enumerate() {
        let mut builder = Builder::new(&mut function, Block(index as u32));
        let condition = builder.push(Op::IsHelperLane, Type::BOOL);
        let selector = builder.push(Op::Wave(WaveOp::LaneIndex, SmallVec::new()), Type::I32);
        choices.push((condition, selector));
        let to = |pick: u8| {
            let pick = pick as usize;
            let target = if forward && index + 1 < count && !pick.is_multiple_of(4) {
                index + 1 + pick / 4 % (count - index - 1)
            } else {
                1 + pick % (count - 1).max(1)
            };
            Edge::new(Block(target.min(count - 1) as u32))
        };
        if count == 1 {
            builder.terminate(Terminator::Return(None));
            continue;
        }
        builder.terminate(match seed.kind % 8 {
            0 => Terminator::Return(None),
            1 | 2 => Terminator::Jump(to(seed.targets[0])),
            3..=5 => Terminator::Branch { condition, accept: to(seed.targets[0]), reject: to(seed.targets[1]) },
            _ => Terminator::Switch {
                selector,
                cases: (0..seed.targets[5] % 5).map(|case| (case.into(), to(seed.targets[case as usize]))).collect(),
                default: to(seed.targets[5]),
            },
        });
    }
    if forward {
        // Until it is reducible, edges that spoil it return instead.
        loop {
            let cfg = Cfg::new(&function);
            let dominators = Dominators::new(&function, &cfg);
            let spoiler = cfg.reverse_post_order().iter().copied().find(|&from| {
                let mut edges = function.blocks[from.index()].terminator.edges();
                edges.any(|edge| cfg.is_retreating(from, edge.block) && !dominators.dominates(edge.block, from))
            });
            match spoiler {
                Some(block) => function.blocks[block.index()].terminator = Terminator::Return(None),
                None => break,
            }
        }
    }
    let cfg = Cfg::new(&function);
    let dominators = Dominators::new(&function, &cfg);
    let constants = [function.i32(1), function.i32(20), function.i32(300)];
    let mut sums = vec![None; count];
    for block in dominators.preorder(function.entry) {
        let mut seen: Vec<Value> = constants.to_vec();
        let mut at = Some(block);
        while let Some(above) = at {
            seen.extend(&function.blocks[above.index()].params);
            seen.extend(sums[above.index()]);
            at = dominators.immediate(above);
        }
        let picks = &seeds[block.index()].picks;
        let mut picks = picks.iter().cycle().map(|pick| *pick as usize);
        let mut pick = |seen: &[Value]| seen[picks.next().unwrap_or(0) % seen.len()];
        let (a, b) = (pick(&seen), pick(&seen));
        let sum = Builder::new(&mut function, block).binary(BinaryOp::IAdd, a, b);
        sums[block.index()] = Some(sum);
        seen.push(sum);
        // A condition can come from further up.
        let mut terminator = function.blocks[block.index()].terminator.clone();
        if let (Terminator::Branch { condition, .. }, Some(above)) = (&mut terminator, dominators.immediate(block))
            && seeds[block.index()].kind & 16 != 0
        {
            *condition = choices[above.index()].0;
        }
        for edge in terminator.edges_mut() {
            edge.args = function.blocks[edge.block.index()].params.iter().map(|_| pick(&seen)).collect();
        }
        function.blocks[block.index()].terminator = terminator;
    }
    function
}

/// Carries out the graph and its tree, and compares.
fn check(original: &Function, structured: &Function, seed: u64) {
    let tree = structure(structured).unwrap();
    assert_well_formed(&tree.body, false, false);
    for seed in [seed, seed ^ 0x9e37_79b9_7f4a_7c15] {
        let mut expected = Machine::new(original, seed);
        expected.graph();
        let mut found = Machine::new(structured, seed);
        found.tree(&tree);
        assert_eq!(expected.trace, found.trace, "{tree:#?}");
    }
}

/// The dispatch of irreducible graphs leaves a function that verifies, apart from its interface.
fn assert_verifies(function: &Function) {
    use crate::ir::{EntryPoint, FunctionId, Module};
    let entry = EntryPoint {
        stage: crate::reflection::Stage::Compute,
        function: FunctionId(0),
        patch_constant_functions: Vec::new(),
    };
    let module = Module { functions: vec![function.clone()], variables: Vec::new(), entry_points: vec![entry] };
    crate::ir::verify(&module, &crate::ir::verify::tests::interface()).unwrap();
}

/// Graphs of each kind: `PROPTEST_CASES` of the environment, or enough for each run of the tests.
fn graphs() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(5000);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(graphs())]

    #[test]
    fn trees_of_reducible_graphs_do_the_same(seeds in seeds(1..14), seed in any::<u64>()) {
        let function = random_function(&seeds, true);
        assert_verifies(&function);
        check(&function, &function, seed);
    }

    #[test]
    fn trees_of_all_graphs_do_the_same(seeds in seeds(2..12), seed in any::<u64>()) {
        let function = random_function(&seeds, false);
        let mut reducible = function.clone();
        make_reducible(&mut reducible);
        assert_verifies(&reducible);
        check(&function, &reducible, seed);
    }
}

/// The tree of a graph as text, blocks by number. Blocks that return do something before.
fn shape(successors: &[&[u32]]) -> String {
    let mut function = graph(successors);
    for (index, successors) in successors.iter().enumerate() {
        if successors.is_empty() {
            Builder::new(&mut function, Block(index as u32)).push(Op::IsHelperLane, Type::BOOL);
        }
    }
    text_of(&function)
}

/// The tree of a function as text.
fn text_of(function: &Function) -> String {
    fn write(nodes: &[Node], text: &mut String) {
        for (index, node) in nodes.iter().enumerate() {
            if index != 0 {
                text.push(' ');
            }
            match node {
                Node::Block(block) => text.push_str(&block.0.to_string()),
                Node::Assign { .. } => text.push('='),
                Node::SetFlag(flag, value) => text.push_str(&format!("f{}={}", flag.0, u8::from(*value))),
                Node::If { condition, accept, reject } => {
                    match condition {
                        Condition::Value(_) => text.push_str("if"),
                        Condition::Flag(flag) => text.push_str(&format!("if f{}", flag.0)),
                    }
                    text.push_str(" {");
                    write(accept, text);
                    text.push('}');
                    if !reject.is_empty() {
                        text.push_str(" else {");
                        write(reject, text);
                        text.push('}');
                    }
                }
                Node::Switch { cases, default, .. } => {
                    text.push_str("switch {");
                    for (values, nodes) in cases {
                        text.push_str(&format!("{values:?}: "));
                        write(nodes, text);
                        text.push_str("; ");
                    }
                    text.push_str("else: ");
                    write(default, text);
                    text.push('}');
                }
                Node::Loop(nodes) => {
                    text.push_str("loop {");
                    write(nodes, text);
                    text.push('}');
                }
                Node::Breakable(nodes) => {
                    text.push('{');
                    write(nodes, text);
                    text.push('}');
                }
                Node::Break => text.push_str("break"),
                Node::Continue => text.push_str("continue"),
                Node::Return(_) => text.push_str("return"),
                Node::Unreachable => text.push_str("unreachable"),
            }
        }
    }
    let tree = structure(function).unwrap();
    let mut text = String::new();
    write(&tree.body, &mut text);
    text
}

#[test]
fn diamonds_nest_nothing_needless() {
    assert_eq!(shape(&[&[1, 2], &[3], &[3], &[]]), "0 if {1} else {2} 3 return");
    assert_eq!(shape(&[&[1, 2], &[2], &[]]), "0 if {1} 2 return");
    assert_eq!(shape(&[&[2, 1], &[2], &[]]), "0 if {} else {1} 2 return");
    // Early returns.
    assert_eq!(shape(&[&[1, 2], &[], &[3, 4], &[], &[]]), "0 if {1 return} 2 if {3 return} 4 return");
    // `if (a && b) 3 else 2; 4`
    assert_eq!(shape(&[&[1, 2], &[3, 2], &[4], &[4], &[]]), "0 {if {1 if {3 break}} 2} 4 return");
}

#[test]
fn loops_are_while_and_do_while() {
    assert_eq!(shape(&[&[1], &[2, 3], &[1], &[]]), "0 loop {1 if {} else {break} 2} 3 return");
    assert_eq!(shape(&[&[1], &[1, 2], &[]]), "0 loop {1 if {} else {break}} 2 return");
    // With a continue and a second break.
    assert_eq!(
        shape(&[&[1], &[2, 5], &[1, 3], &[4, 5], &[1], &[]]),
        "0 loop {1 if {} else {break} 2 if {continue} 3 if {} else {break} 4} 5 return"
    );
    // Without end.
    assert_eq!(shape(&[&[1], &[2], &[1]]), "0 loop {1 2}");
    // What is done before a break stands before it.
    assert_eq!(shape(&[&[1], &[2, 4], &[3, 1], &[4], &[]]), "0 loop {1 if {} else {break} 2 if {3 break}} 4 return");
}

#[test]
fn two_loops_are_left_through_a_flag() {
    assert_eq!(
        shape(&[&[1], &[2, 5], &[3, 4], &[2, 5], &[1], &[]]),
        "0 loop {1 if {} else {break} loop {2 if {} else {break} 3 if {} else {f0=1 break}} if f0 {break} 4} 5 return"
    );
    // The way on to the outer loop's next round needs none: it stands behind the inner loop.
    assert_eq!(
        shape(&[&[1], &[2, 3], &[2, 1], &[]]),
        "0 loop {1 if {} else {break} loop {2 if {} else {break}}} 3 return"
    );
}

#[test]
fn empty_returns_need_no_jumps() {
    let shape = |successors: &[&[u32]]| text_of(&graph(successors));
    assert_eq!(shape(&[&[1, 2], &[3, 2], &[4], &[4], &[]]), "0 if {1 if {3 return}} 2 4 return");
    assert_eq!(
        shape(&[&[1], &[2, 5], &[3, 4], &[2, 5], &[1], &[]]),
        "0 loop {1 if {} else {break} loop {2 if {} else {break} 3 if {} else {return}} 4} 5 return"
    );
    assert_eq!(
        shape(&[&[1, 2, 3], &[2], &[4], &[4], &[]]),
        "0 switch {[0]: 1 f0=1; [1]: f0=1; else: 3} if f0 {2} 4 return"
    );
}

#[test]
fn switches_end_at_their_merge() {
    assert_eq!(shape(&[&[1, 2, 3], &[4], &[4], &[4], &[]]), "0 switch {[0]: 1; [1]: 2; else: 3} 4 return");
    // Alike cases are one.
    assert_eq!(shape(&[&[1, 2, 1, 3], &[3], &[3], &[]]), "0 switch {[0, 2]: 1; [1]: 2; else: } 3 return");
    // 1 falls through to 2.
    assert_eq!(
        shape(&[&[1, 2, 3], &[2], &[4], &[4], &[]]),
        "0 switch {[0]: 1 f0=1; [1]: f0=1; else: 3} if f0 {2} 4 return"
    );
    // A continue from a switch in a loop.
    assert_eq!(
        shape(&[&[1], &[2, 3, 5], &[1], &[4], &[1], &[]]),
        "0 loop {1 switch {[0]: 2; [1]: 3 4; else: f0=1 break} if f0 {break}} 5 return"
    );
}

#[test]
fn long_chains_stay_flat() {
    // 1,000 times `if (...) { 3000 + i; goto end }`.
    const LENGTH: u32 = 1000;
    let mut successors: Vec<Vec<u32>> = Vec::new();
    for index in 0..LENGTH {
        successors.push(vec![LENGTH + index, if index + 1 < LENGTH { index + 1 } else { 2 * LENGTH }]);
    }
    successors.extend((0..LENGTH).map(|_| vec![2 * LENGTH]));
    successors.push(Vec::new());
    let successors: Vec<&[u32]> = successors.iter().map(Vec::as_slice).collect();
    let text = shape(&successors);
    let (mut depth, mut deepest) = (0, 0);
    for character in text.chars() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    assert!(deepest <= 20, "nested {deepest} deep");
}

#[test]
fn deep_nesting_is_refused_or_flattened_on_a_small_stack() {
    // Choices in choices, each with something to do behind.
    let nested = |levels: u32| {
        let mut successors: Vec<Vec<u32>> = (0..levels).map(|level| vec![level + 1, 2 * levels - level]).collect();
        successors.push(vec![levels + 1]);
        successors.extend((1..levels).map(|level| vec![levels + level + 1]));
        successors.push(Vec::new());
        let successors: Vec<&[u32]> = successors.iter().map(Vec::as_slice).collect();
        let mut function = graph(&successors);
        // Each choice and each block behind one does something.
        for block in 0..function.blocks.len() as u32 {
            let one = function.i32(1);
            let mut builder = Builder::new(&mut function, Block(block));
            let condition = builder.push(Op::IsHelperLane, Type::BOOL);
            builder.binary(BinaryOp::IAdd, one, one);
            if let Terminator::Branch { condition: by, .. } = &mut function.blocks[block as usize].terminator {
                *by = condition;
            }
        }
        function
    };
    let run = move || {
        structure(&nested(100)).unwrap();
        for levels in [200, 3000] {
            let function = nested(levels);
            let error = structure(&function).unwrap_err();
            assert_eq!(error.kind, crate::ErrorKind::Unsupported);
            let mut flat = function.clone();
            crate::ir::passes::flatten(&mut flat);
            for seed in 0..4 {
                check(&function, &flat, seed);
            }
        }
    };
    std::thread::Builder::new().stack_size(3 << 19).spawn(run).unwrap().join().unwrap();
}
