//! Reads the text form.

mod operation;

use smallvec::SmallVec;

use self::operation::Args;
use super::names::Word;
use crate::{
    Error, Result,
    ir::{
        Block, Constant, Edge, EntryPoint, Function, FunctionId, Inst, Module, Scalar, Terminator, Type, Value,
        ValueDef, Variable, VariableSpace,
    },
    reflection::Stage,
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
