//! Reads the text form.

use smallvec::SmallVec;

use super::names::Word;
use crate::{
    Error, Result,
    ir::{
        AtomicOp, Axis, Barrier, BinaryOp, BindingId, Block, BufferAddress, CompareOp, Constant, ConvertOp,
        DerivativePrecision, Edge, ElementId, EntryPoint, EvaluateAt, Function, FunctionId, Gather, Inst, Module, Op,
        RayQueryField, RayQueryOp, Sample, SampleLevel, Scalar, SignatureKind, Terminator, TernaryOp, Type, UnaryOp,
        Value, ValueDef, Variable, VariableId, VariableSpace, WaveOp,
    },
    reflection::{Stage, SystemValue},
};

/// Reads a module from its text form.
///
/// Only the form is checked: what the module means, [`verify`](crate::ir::verify) checks.
///
/// # Errors
/// [`ErrorKind::Malformed`](crate::ErrorKind::Malformed) names the line and what was expected there.
pub fn parse(text: &str) -> Result<Module> {
    // Numbers are those of lists that have to be filled up to them.
    let limit = text.len() * 16 + 1024;
    let mut module = Module::default();
    let mut function: Option<FunctionParser> = None;
    for (index, line) in text.lines().enumerate() {
        let mut cursor = Cursor { rest: line, limit };
        let result = match &mut function {
            Some(parser) => match parser.line(&mut cursor) {
                Ok(true) => Ok(()),
                Ok(false) => {
                    module.functions.extend(function.take().map(|parser| parser.function));
                    Ok(())
                }
                Err(error) => Err(error),
            },
            None => module_line(&mut cursor, &mut module).map(|begun| function = begun),
        };
        let result = result.and_then(|()| cursor.expect_end());
        result.map_err(|Expected(what)| Error::malformed(format!("text of a module: line {}: {what}", index + 1)))?;
    }
    if function.is_some() {
        return Err(Error::malformed("text of a module: the last function is not closed"));
    }
    Ok(module)
}

/// What was expected.
struct Expected(String);

type Parse<T> = Result<T, Expected>;

fn expected<T>(what: impl Into<String>) -> Parse<T> {
    Err(Expected(format!("expected {}", what.into())))
}

/// The rest of a line.
struct Cursor<'t> {
    rest: &'t str,
    limit: usize,
}

impl<'t> Cursor<'t> {
    /// Skips blanks and a comment.
    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
        if self.rest.starts_with("//") {
            self.rest = "";
        }
    }

    fn is_end(&mut self) -> bool {
        self.skip();
        self.rest.is_empty()
    }

    fn expect_end(&mut self) -> Parse<()> {
        if self.is_end() { Ok(()) } else { expected(format!("the end of the line before `{}`", self.rest)) }
    }

    /// Takes a punctuation mark or word if it comes next.
    fn take(&mut self, mark: &str) -> bool {
        self.skip();
        match self.rest.strip_prefix(mark) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, mark: &str) -> Parse<()> {
        if self.take(mark) { Ok(()) } else { expected(format!("`{mark}`")) }
    }

    /// Characters up to the first that does not belong.
    fn span(&mut self, belongs: impl Fn(char) -> bool) -> &'t str {
        self.skip();
        let end = self.rest.find(|character| !belongs(character)).unwrap_or(self.rest.len());
        let (span, rest) = self.rest.split_at(end);
        self.rest = rest;
        span
    }

    /// Letters, digits and underscores.
    fn word(&mut self) -> &'t str {
        self.span(|character| character.is_ascii_alphanumeric() || character == '_')
    }

    /// One of an enumeration's words.
    fn variant<T: Word>(&mut self) -> Parse<T> {
        let word = self.word();
        T::from_word(word).map_or_else(|| expected(format!("another word than `{word}`")), Ok)
    }

    /// A decimal number of a list.
    fn number(&mut self) -> Parse<u32> {
        let span = self.span(|character| character.is_ascii_digit());
        match span.parse() {
            Ok(number) if (number as usize) < self.limit => Ok(number),
            _ => expected("a number"),
        }
    }

    /// A word with its number: `block3`.
    fn numbered(&mut self, word: &str) -> Parse<u32> {
        self.expect(word)?;
        self.number()
    }

    fn ty(&mut self) -> Parse<Type> {
        let word = self.word();
        type_of(word).map_or_else(|| expected(format!("a type, not `{word}`")), Ok)
    }

    fn quoted(&mut self) -> Parse<String> {
        self.expect("\"")?;
        let mut name = String::new();
        let mut characters = self.rest.chars();
        loop {
            match characters.next() {
                Some('"') => break,
                Some('\\') => match characters.next() {
                    Some('n') => name.push('\n'),
                    Some('r') => name.push('\r'),
                    Some(character) => name.push(character),
                    None => return expected("the end of the name"),
                },
                Some(character) => name.push(character),
                None => return expected("the end of the name"),
            }
        }
        self.rest = characters.as_str();
        Ok(name)
    }

    /// The lanes of a constant, in parentheses.
    fn constant(&mut self, ty: Type) -> Parse<Constant> {
        let Some(scalar) = ty.scalar() else { return expected("a type of numbers") };
        self.expect("(")?;
        let mut lanes = SmallVec::new();
        loop {
            let span = self.span(|character| character.is_ascii_alphanumeric() || "+-.".contains(character));
            match lane(scalar, span) {
                Some(bits) => lanes.push(bits),
                None => return expected(format!("a lane of {ty}, not `{span}`")),
            }
            if !self.take(",") {
                break;
            }
        }
        self.expect(")")?;
        if lanes.len() != ty.lanes() as usize {
            return expected(format!("{} lanes", ty.lanes()));
        }
        Ok(Constant(lanes))
    }
}

/// The type of a word.
fn type_of(word: &str) -> Option<Type> {
    match word {
        "void" => return Some(Type::Void),
        "handle" => return Some(Type::Handle),
        _ => {}
    }
    if let Some(scalar) = Scalar::from_word(word) {
        return Some(Type::Scalar(scalar));
    }
    let (scalar, lanes) = word.split_once('x')?;
    let lanes = lanes.parse().ok().filter(|lanes| (2..=4).contains(lanes))?;
    Some(Type::Vector(Scalar::from_word(scalar)?, lanes))
}

/// The bits of a lane, zero-extended.
fn lane(scalar: Scalar, text: &str) -> Option<u64> {
    let mask = if scalar.bits() == 64 { u64::MAX } else { (1 << scalar.bits()) - 1 };
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().filter(|bits| bits & !mask == 0);
    }
    match scalar {
        Scalar::Bool => text.parse::<bool>().ok().map(u64::from),
        Scalar::F16 => text.parse::<f32>().ok().map(|number| half::f16::from_f32(number).to_bits().into()),
        Scalar::F32 => text.parse::<f32>().ok().map(|number| number.to_bits().into()),
        Scalar::F64 => text.parse::<f64>().ok().map(f64::to_bits),
        Scalar::I16 | Scalar::I32 | Scalar::I64 => {
            let number: i128 = text.parse().ok()?;
            let fits = (-(1i128 << (scalar.bits() - 1))..(1i128 << scalar.bits())).contains(&number);
            fits.then_some(number as u64 & mask)
        }
    }
}

/// A line outside of functions. Gives the function that it begins.
fn module_line(cursor: &mut Cursor<'_>, module: &mut Module) -> Parse<Option<FunctionParser>> {
    if cursor.is_end() {
        return Ok(None);
    }
    if cursor.take("variable") {
        in_order(cursor.number()?, module.variables.len())?;
        let name = cursor.quoted()?;
        cursor.expect(":")?;
        let space = cursor.variant::<VariableSpace>()?;
        let element = cursor.ty()?;
        cursor.expect("[")?;
        let Ok(len) = cursor.span(|character| character.is_ascii_digit()).parse() else {
            return expected("a number of elements");
        };
        cursor.expect("]")?;
        let mut initial = None;
        if cursor.take("=") {
            cursor.expect("[")?;
            let mut constants = Vec::new();
            while !cursor.take("]") {
                if !constants.is_empty() {
                    cursor.expect(",")?;
                }
                let ty = cursor.ty()?;
                constants.push(cursor.constant(ty)?);
            }
            initial = Some(constants);
        }
        module.variables.push(Variable { name, space, element, len, initial });
    } else if cursor.take("entry") {
        let stage = cursor.variant::<Stage>()?;
        let function = FunctionId(cursor.numbered("function")?);
        let mut patch_constant_functions = Vec::new();
        while cursor.take(",") {
            patch_constant_functions.push(FunctionId(cursor.numbered("function")?));
        }
        module.entry_points.push(EntryPoint { stage, function, patch_constant_functions });
    } else if cursor.take("function") {
        in_order(cursor.number()?, module.functions.len())?;
        let name = cursor.quoted()?;
        cursor.expect("->")?;
        let result = cursor.ty()?;
        cursor.expect(",")?;
        cursor.expect("entry")?;
        let entry = Block(cursor.numbered("block")?);
        cursor.expect("{")?;
        let mut function = Function::new(name, result);
        function.entry = entry;
        return Ok(Some(FunctionParser { function, block: None, unnumbered: Vec::new(), constants: Vec::new() }));
    } else {
        return expected("`variable`, `entry` or `function`");
    }
    Ok(None)
}

/// Lists are written in order.
fn in_order(number: u32, len: usize) -> Parse<()> {
    if number as usize == len { Ok(()) } else { expected(format!("number {len}")) }
}

/// A function in the making.
struct FunctionParser {
    function: Function,
    /// The block that lines belong to.
    block: Option<Block>,
    /// Instructions without a result have no number: they get theirs at the end, beyond the others.
    unnumbered: Vec<(Block, usize, Inst)>,
    /// So do constants. While the function is read, uses of them are numbers from the top down.
    constants: Vec<(Type, Constant)>,
}

/// An operand, and its name if it has one.
struct Arg<'t> {
    name: Option<&'t str>,
    kind: ArgKind<'t>,
}

enum ArgKind<'t> {
    Value(Value),
    Word(&'t str),
}

impl FunctionParser {
    /// A line of a function. False at its end.
    fn line(&mut self, cursor: &mut Cursor<'_>) -> Parse<bool> {
        if cursor.is_end() {
            return Ok(true);
        }
        if cursor.take("}") {
            self.finish()?;
            return Ok(false);
        }
        if cursor.take("block") {
            let block = self.block_of(cursor.number()?);
            self.block = Some(block);
            if cursor.take("(") {
                loop {
                    let value = self.definition(cursor, ValueDef::Param(block))?;
                    self.function.blocks[block.index()].params.push(value);
                    if !cursor.take(",") {
                        break;
                    }
                }
                cursor.expect(")")?;
            }
            cursor.expect(":")?;
            return Ok(true);
        }
        let Some(block) = self.block else { return expected("a block") };
        if self.terminator(cursor, block)? {
            return Ok(true);
        }
        let result = match cursor.rest.starts_with('%') {
            true => {
                let value = self.definition(cursor, ValueDef::Removed)?;
                cursor.expect("=")?;
                Some(value)
            }
            false => None,
        };
        let mut operation = cursor.word();
        let precise = operation == "precise";
        if precise {
            operation = cursor.word();
        }
        let args = Args { args: self.args(cursor)?.into_iter().map(Some).collect() };
        let op = args.op(operation)?;
        let origin = if cursor.take("#") { cursor.span(|c| c.is_ascii_digit()).parse().ok() } else { Some(0) };
        let Some(origin) = origin else { return expected("a number") };
        let inst = Inst { op, precise, origin };
        let insts = &mut self.function.blocks[block.index()].insts;
        match result {
            Some(value) => {
                insts.push(value);
                self.function.values[value.index()].def = ValueDef::Inst(inst);
            }
            None => {
                self.unnumbered.push((block, insts.len(), inst));
                insts.push(Value(u32::MAX));
            }
        }
        Ok(true)
    }

    /// `%7 "color": f32`.
    fn definition(&mut self, cursor: &mut Cursor<'_>, def: ValueDef) -> Parse<Value> {
        cursor.expect("%")?;
        let value = Value(cursor.number()?);
        self.fill(value);
        cursor.skip();
        if cursor.rest.starts_with('"') {
            let name = cursor.quoted()?;
            self.function.names.insert(value, name);
        }
        cursor.expect(":")?;
        let ty = cursor.ty()?;
        self.function.values[value.index()].def = def;
        self.function.values[value.index()].ty = ty;
        Ok(value)
    }

    /// Makes the list of values reach to this one.
    fn fill(&mut self, value: Value) {
        while self.function.values.len() <= value.index() {
            self.function.add_value(ValueDef::Removed, Type::Void);
        }
    }

    fn block_of(&mut self, number: u32) -> Block {
        while self.function.blocks.len() <= number as usize {
            self.function.add_block();
        }
        Block(number)
    }

    /// The operands up to the end of the line.
    fn args<'t>(&mut self, cursor: &mut Cursor<'t>) -> Parse<Vec<Arg<'t>>> {
        let mut args = Vec::new();
        if cursor.is_end() || cursor.rest.starts_with('#') {
            return Ok(args);
        }
        loop {
            args.push(self.arg(cursor)?);
            if !cursor.take(",") {
                return Ok(args);
            }
        }
    }

    fn arg<'t>(&mut self, cursor: &mut Cursor<'t>) -> Parse<Arg<'t>> {
        cursor.skip();
        if cursor.rest.starts_with('%') {
            return Ok(Arg { name: None, kind: ArgKind::Value(self.value(cursor)?) });
        }
        let word = cursor.word();
        if word.is_empty() {
            return expected("an operand");
        }
        if cursor.rest.starts_with('(') {
            return Ok(Arg { name: None, kind: ArgKind::Value(self.constant(cursor, word)?) });
        }
        if cursor.take(":") {
            cursor.skip();
            let kind = if cursor.rest.starts_with(|character: char| character.is_ascii_digit()) {
                ArgKind::Word(cursor.word())
            } else {
                ArgKind::Value(self.value(cursor)?)
            };
            return Ok(Arg { name: Some(word), kind });
        }
        Ok(Arg { name: None, kind: ArgKind::Word(word) })
    }

    /// A value by number, or a constant.
    fn value(&mut self, cursor: &mut Cursor<'_>) -> Parse<Value> {
        if cursor.take("%") {
            let value = Value(cursor.number()?);
            self.fill(value);
            return Ok(value);
        }
        let word = cursor.word();
        self.constant(cursor, word)
    }

    fn constant(&mut self, cursor: &mut Cursor<'_>, word: &str) -> Parse<Value> {
        let Some(ty) = type_of(word) else { return expected(format!("a value, not `{word}`")) };
        let constant = cursor.constant(ty)?;
        self.constants.push((ty, constant));
        Ok(Value(u32::MAX - self.constants.len() as u32))
    }

    fn edge(&mut self, cursor: &mut Cursor<'_>) -> Parse<Edge> {
        let number = cursor.numbered("block")?;
        let mut edge = Edge::new(self.block_of(number));
        if cursor.take("(") {
            loop {
                edge.args.push(self.value(cursor)?);
                if !cursor.take(",") {
                    break;
                }
            }
            cursor.expect(")")?;
        }
        Ok(edge)
    }

    /// Takes a terminator if the line is one.
    fn terminator(&mut self, cursor: &mut Cursor<'_>, block: Block) -> Parse<bool> {
        let before = cursor.rest;
        let terminator = match cursor.word() {
            "jump" => Terminator::Jump(self.edge(cursor)?),
            "branch" => {
                let condition = self.value(cursor)?;
                cursor.expect(",")?;
                let accept = self.edge(cursor)?;
                cursor.expect(",")?;
                let reject = self.edge(cursor)?;
                Terminator::Branch { condition, accept, reject }
            }
            "switch" => {
                let selector = self.value(cursor)?;
                let mut cases = Vec::new();
                loop {
                    cursor.expect(",")?;
                    if cursor.take("default") {
                        cursor.expect(":")?;
                        break Terminator::Switch { selector, cases, default: self.edge(cursor)? };
                    }
                    let Ok(value) = cursor.span(|character| character.is_ascii_digit()).parse() else {
                        return expected("a case");
                    };
                    cursor.expect(":")?;
                    cases.push((value, self.edge(cursor)?));
                }
            }
            "return" if cursor.is_end() => Terminator::Return(None),
            "return" => Terminator::Return(Some(self.value(cursor)?)),
            "unreachable" => Terminator::Unreachable,
            _ => {
                cursor.rest = before;
                return Ok(false);
            }
        };
        self.function.blocks[block.index()].terminator = terminator;
        self.block = None;
        Ok(true)
    }

    /// Gives numbers to what has none.
    fn finish(&mut self) -> Parse<()> {
        if self.block.is_some() {
            return expected("a terminator");
        }
        for (block, at, inst) in std::mem::take(&mut self.unnumbered) {
            let value = self.function.add_value(ValueDef::Inst(inst), Type::Void);
            self.function.blocks[block.index()].insts[at] = value;
        }
        let constants: Vec<Value> = std::mem::take(&mut self.constants)
            .into_iter()
            .map(|(ty, constant)| self.function.constant(ty, &constant.0))
            .collect();
        let first = u32::MAX - constants.len() as u32;
        self.function.for_each_use_mut(|value| {
            if value.0 >= first
                && let Some(constant) = constants.get((u32::MAX - value.0) as usize - 1)
            {
                *value = *constant;
            }
        });
        Ok(())
    }
}

/// The operands of one operation. Those that were read are gone.
struct Args<'t> {
    args: std::collections::VecDeque<Option<Arg<'t>>>,
}

impl Args<'_> {
    /// The next operand without a name.
    fn next(&mut self) -> Option<ArgKind<'_>> {
        let position = self.args.iter().position(|arg| arg.as_ref().is_some_and(|arg| arg.name.is_none()))?;
        self.args[position].take().map(|arg| arg.kind)
    }

    fn value(&mut self) -> Parse<Value> {
        match self.next() {
            Some(ArgKind::Value(value)) => Ok(value),
            _ => expected("a value"),
        }
    }

    fn word(&mut self) -> Parse<String> {
        match self.next() {
            Some(ArgKind::Word(word)) => Ok(word.to_owned()),
            _ => expected("a word"),
        }
    }

    fn variant<T: Word>(&mut self) -> Parse<T> {
        let word = self.word()?;
        T::from_word(&word).map_or_else(|| expected(format!("another word than `{word}`")), Ok)
    }

    fn u8(&mut self) -> Parse<u8> {
        self.word()?.parse().or_else(|_| expected("a small number"))
    }

    /// `element3`.
    fn numbered(&mut self, word: &str) -> Parse<u32> {
        let found = self.word()?;
        let number = found.strip_prefix(word).and_then(|number| number.parse().ok());
        number.map_or_else(|| expected(format!("a number of a {word}")), Ok)
    }

    /// The word, if it is there.
    fn flag(&mut self, word: &str) -> bool {
        let position = self.args.iter().position(|arg| {
            arg.as_ref().is_some_and(|arg| arg.name.is_none() && matches!(arg.kind, ArgKind::Word(w) if w == word))
        });
        position.is_some_and(|position| self.args[position].take().is_some())
    }

    fn find(&mut self, name: &str) -> Option<ArgKind<'_>> {
        let position = self.args.iter().position(|arg| arg.as_ref().is_some_and(|arg| arg.name == Some(name)))?;
        self.args[position].take().map(|arg| arg.kind)
    }

    fn named(&mut self, name: &str) -> Parse<Option<Value>> {
        match self.find(name) {
            None => Ok(None),
            Some(ArgKind::Value(value)) => Ok(Some(value)),
            Some(ArgKind::Word(_)) => expected(format!("a value of {name}")),
        }
    }

    fn option(&mut self, name: &str) -> Parse<Option<u8>> {
        match self.find(name) {
            None => Ok(None),
            Some(ArgKind::Word(word)) if let Ok(number) = word.parse() => Ok(Some(number)),
            Some(_) => expected(format!("a number of {name}")),
        }
    }

    fn address(&mut self) -> Parse<BufferAddress> {
        if let Some(element) = self.named("element")? {
            return Ok(BufferAddress::Element(element));
        }
        if let Some(byte) = self.named("byte")? {
            return Ok(BufferAddress::Byte(byte));
        }
        match (self.named("index")?, self.named("offset")?) {
            (Some(index), Some(offset)) => Ok(BufferAddress::Structured(index, offset)),
            _ => expected("an address"),
        }
    }

    fn values<const N: usize>(&mut self) -> Parse<SmallVec<[Value; N]>>
    where
        [Value; N]: smallvec::Array<Item = Value>,
    {
        let mut values = SmallVec::new();
        while self.args.iter().flatten().any(|arg| arg.name.is_none()) {
            values.push(self.value()?);
        }
        Ok(values)
    }

    /// The operation of that name with these operands.
    fn op(mut self, name: &str) -> Parse<Op> {
        let op = self.op_inner(name)?;
        match self.args.into_iter().flatten().next() {
            None => Ok(op),
            Some(Arg { name: Some(operand), .. }) => expected(format!("no `{operand}` in {name}")),
            Some(_) => expected(format!("fewer operands of {name}")),
        }
    }

    fn op_inner(&mut self, name: &str) -> Parse<Op> {
        if let Some(op) = UnaryOp::from_word(name) {
            return Ok(Op::Unary(op, self.value()?));
        }
        if let Some(op) = BinaryOp::from_word(name) {
            return Ok(Op::Binary(op, self.value()?, self.value()?));
        }
        if let Some(op) = CompareOp::from_word(name) {
            return Ok(Op::Compare(op, self.value()?, self.value()?));
        }
        if let Some(op) = TernaryOp::from_word(name) {
            return Ok(Op::Ternary(op, self.value()?, self.value()?, self.value()?));
        }
        if let Some(op) = ConvertOp::from_word(name) {
            return Ok(Op::Convert(op, self.value()?));
        }
        Ok(match name {
            "bitfield_insert" => Op::BitfieldInsert {
                width: self.value()?,
                offset: self.value()?,
                insert: self.value()?,
                base: self.value()?,
            },
            "select" => Op::Select { condition: self.value()?, accept: self.value()?, reject: self.value()? },
            "dot" => Op::Dot(self.value()?, self.value()?),
            "extract" => Op::Extract(self.value()?, self.u8()?),
            "extract_dynamic" => Op::ExtractDynamic(self.value()?, self.value()?),
            "compose" => Op::Compose(self.values()?),
            "swizzle" => {
                let vector = self.value()?;
                let order: Option<SmallVec<[u8; 4]>> =
                    self.word()?.chars().map(|lane| "xyzw".find(lane).map(|lane| lane as u8)).collect();
                Op::Swizzle(vector, order.map_or_else(|| expected("lanes"), Ok)?)
            }
            "load_input" => Op::LoadInput {
                signature: self.variant::<SignatureKind>()?,
                element: ElementId(self.numbered("element")?),
                row: self.value()?,
                component: self.u8()?,
                vertex: self.named("vertex")?,
            },
            "evaluate_input" => Op::EvaluateInput {
                element: ElementId(self.numbered("element")?),
                row: self.value()?,
                component: self.u8()?,
                at: if self.flag("centroid") {
                    EvaluateAt::Centroid
                } else if let Some(sample) = self.named("sample")? {
                    EvaluateAt::Sample(sample)
                } else {
                    match (self.named("x")?, self.named("y")?) {
                        (Some(x), Some(y)) => EvaluateAt::Snapped(x, y),
                        _ => return expected("where the input is evaluated"),
                    }
                },
            },
            "load_input_at_vertex" => Op::LoadInputAtVertex {
                element: ElementId(self.numbered("element")?),
                row: self.value()?,
                component: self.u8()?,
                vertex: self.u8()?,
            },
            "store_output" => Op::StoreOutput {
                signature: self.variant::<SignatureKind>()?,
                element: ElementId(self.numbered("element")?),
                row: self.value()?,
                component: self.u8()?,
                vertex: self.named("vertex")?,
                value: self.value()?,
            },
            "system_value" => Op::SystemValue(self.variant::<SystemValue>()?),
            "load_variable" => Op::LoadVariable {
                variable: VariableId(self.numbered("variable")?),
                index: self.value()?,
                component: self.option("component")?,
            },
            "store_variable" => Op::StoreVariable {
                variable: VariableId(self.numbered("variable")?),
                index: self.value()?,
                component: self.option("component")?,
                value: self.value()?,
            },
            "atomic_variable" => Op::AtomicVariable {
                op: self.variant::<AtomicOp>()?,
                variable: VariableId(self.numbered("variable")?),
                index: self.value()?,
                value: self.value()?,
                compare: self.named("compare")?,
            },
            "handle" => Op::Handle {
                binding: BindingId(self.numbered("binding")?),
                index: self.value()?,
                non_uniform: self.flag("non_uniform"),
            },
            "load_constant" => Op::LoadConstant { handle: self.value()?, row: self.value()?, offset: self.u8()? },
            "load_buffer" => Op::LoadBuffer { handle: self.value()?, address: self.address()? },
            "store_buffer" => Op::StoreBuffer { handle: self.value()?, address: self.address()?, value: self.value()? },
            "atomic_buffer" => Op::AtomicBuffer {
                op: self.variant::<AtomicOp>()?,
                handle: self.value()?,
                address: self.address()?,
                value: self.value()?,
                compare: self.named("compare")?,
            },
            "update_counter" => {
                let handle = self.value()?;
                match self.word()?.as_str() {
                    "increment" => Op::UpdateCounter { handle, increment: true },
                    "decrement" => Op::UpdateCounter { handle, increment: false },
                    _ => return expected("`increment` or `decrement`"),
                }
            }
            "load_texture" => Op::LoadTexture {
                handle: self.value()?,
                coordinates: self.value()?,
                level: self.named("level")?,
                sample: self.named("sample")?,
                offset: self.named("offset")?,
            },
            "store_texture" => Op::StoreTexture {
                handle: self.value()?,
                coordinates: self.value()?,
                sample: self.named("sample")?,
                value: self.value()?,
            },
            "atomic_texture" => Op::AtomicTexture {
                op: self.variant::<AtomicOp>()?,
                handle: self.value()?,
                coordinates: self.value()?,
                value: self.value()?,
                compare: self.named("compare")?,
            },
            "sample" => Op::Sample(Box::new(Sample {
                texture: self.value()?,
                sampler: self.value()?,
                coordinates: self.value()?,
                level: if self.flag("level_zero") {
                    SampleLevel::Zero
                } else if let Some(bias) = self.named("bias")? {
                    SampleLevel::Bias(bias)
                } else if let Some(level) = self.named("level")? {
                    SampleLevel::Level(level)
                } else {
                    match (self.named("gradient_x")?, self.named("gradient_y")?) {
                        (Some(x), Some(y)) => SampleLevel::Gradient(x, y),
                        (None, None) => SampleLevel::Implicit,
                        _ => return expected("both derivatives"),
                    }
                },
                compare: self.named("compare")?,
                offset: self.named("offset")?,
                min_lod: self.named("min_lod")?,
            })),
            "gather" => Op::Gather(Box::new(Gather {
                texture: self.value()?,
                sampler: self.value()?,
                coordinates: self.value()?,
                component: self.u8()?,
                compare: self.named("compare")?,
                offset: self.named("offset")?,
            })),
            "calculate_lod" => Op::CalculateLod {
                texture: self.value()?,
                sampler: self.value()?,
                coordinates: self.value()?,
                clamped: self.flag("clamped"),
            },
            "texture_size" => Op::TextureSize { handle: self.value()?, level: self.named("level")? },
            "buffer_size" => Op::BufferSize { handle: self.value()? },
            "sample_count" => Op::SampleCount(self.named("texture")?),
            "sample_position" => Op::SamplePosition { handle: self.named("texture")?, sample: self.value()? },
            "derivative" => {
                Op::Derivative(self.variant::<Axis>()?, self.variant::<DerivativePrecision>()?, self.value()?)
            }
            "discard" => Op::Discard(self.value()?),
            "is_helper_lane" => Op::IsHelperLane,
            "barrier" => Op::Barrier(Barrier {
                group_sync: self.flag("group_sync"),
                group_shared: self.flag("group_shared"),
                uav_group: self.flag("uav_group"),
                uav_global: self.flag("uav_global"),
            }),
            "wave" => Op::Wave(self.variant::<WaveOp>()?, self.values()?),
            "ray_query" => Op::RayQuery {
                op: self.variant::<RayQueryOp>()?,
                query: self.numbered("query")?,
                operands: self.values()?,
            },
            "load_ray_query" => Op::LoadRayQuery {
                field: self.variant::<RayQueryField>()?,
                query: self.numbered("query")?,
                column: self.u8()?,
                committed: self.flag("committed"),
            },
            "call" => Op::Call(FunctionId(self.numbered("function")?), self.values()?),
            "emit_vertex" => Op::EmitVertex { stream: self.u8()?, emit: self.flag("emit"), cut: self.flag("cut") },
            "set_mesh_output_counts" => Op::SetMeshOutputCounts { vertices: self.value()?, primitives: self.value()? },
            "emit_indices" => Op::EmitIndices { primitive: self.value()?, indices: self.values()? },
            "dispatch_mesh" => Op::DispatchMesh {
                groups: [self.value()?, self.value()?, self.value()?],
                payload: VariableId(self.numbered("variable")?),
                first: self.value()?,
                words: self.numbered("")?,
            },
            _ => return expected(format!("an operation, not `{name}`")),
        })
    }
}
