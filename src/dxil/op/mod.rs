//! DXIL's operations: calls of `dx.op.*` functions, told apart by the number that is their first argument.
//!
//! `table` lists all; each file lowers those of one subject.

mod buffer;
#[cfg(test)]
mod census;
mod convert;
mod coverage;
mod handle;
mod hit_object;
mod math;
mod mesh;
mod node;
mod packed;
mod parameters;
mod ray;
mod ray_query;
mod signature;
mod table;
mod texture;
mod thread;
mod wave;

#[cfg(test)]
pub use coverage::markdown;
pub use parameters::parameters;
pub use ray::HitDecision;
pub use ray_query::RayQueries;
pub use signature::Signatures;
pub use table::opcode;

use smallvec::SmallVec;

use super::{
    lower::{FunctionLowering, Lowered, MAX_SCALARS},
    module as llvm,
};
use crate::{
    Error, Result,
    ir::{Axis, BinaryOp, ConvertOp, DerivativePrecision, Op, Scalar, TernaryOp, Type, UnaryOp, Value, WaveOp},
    reflection::SystemValue,
};

/// How an operation is lowered.
#[derive(Clone, Copy, Debug)]
pub enum Lowering {
    /// It is not.
    Refused,
    /// Operation of one operand.
    Unary(UnaryOp),
    /// Operation of two operands.
    Binary(BinaryOp),
    /// Operation of three operands.
    Ternary(TernaryOp),
    /// Test of a float.
    Test(ConvertOp),
    /// Difference across the quad.
    Derivative(Axis, DerivativePrecision),
    /// Value of the pipeline, with the component as operand if it is a vector.
    System(SystemValue),
    /// Wave or quad operation on the operands.
    Wave(WaveOp),
    /// A function of its own.
    Handler(Handler),
}

/// Lowers a call; `None` if the operation has no result.
pub type Handler = fn(&mut FunctionLowering<'_, '_>, &Call<'_>) -> Result<Option<Lowered>>;

/// A call of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Its number.
    pub number: u32,
    /// Arguments after the number.
    arguments: &'a [llvm::ValueId],
    /// The result's value, if there is one.
    pub result: Option<llvm::ValueId>,
    /// The result's type.
    pub ty: llvm::TypeId,
    /// Arguments that are vectors stand for this element of theirs.
    lane: Option<usize>,
}

/// Lowers a call of an operation.
///
/// # Errors
/// Names the operation that has no lowering.
pub fn lower(
    function: &mut FunctionLowering<'_, '_>,
    instruction: &llvm::Instruction,
    callee: &str,
    arguments: &[llvm::ValueId],
) -> Result<Option<Lowered>> {
    let number = arguments.first().and_then(|&number| function.as_integer(number));
    let number = number.ok_or_else(|| Error::malformed("DXIL operation without a number"))?;
    let Some((number, opcode)) = u32::try_from(number).ok().and_then(|number| Some((number, opcode(number)?))) else {
        // Of a Shader Model to come: its number has the group of experimental operations in its upper half.
        let what = format!("DXIL operation of an unknown number: {callee} ({:#x})", number as u32);
        return Err(Error::unsupported(what));
    };
    let call = Call { number, arguments: &arguments[1..], result: instruction.result, ty: instruction.ty, lane: None };
    call.lower_lanes(function, &opcode.lowering).map_err(|mut error| {
        if !error.what.starts_with("dx.op.") {
            error.what = format!("dx.op.{}: {}", opcode.name, error.what);
        }
        error
    })
}

impl Call<'_> {
    /// Lowers the operation, once for each element if it works on vectors element by element (Shader Model 6.9).
    fn lower_lanes(&self, function: &mut FunctionLowering<'_, '_>, lowering: &Lowering) -> Result<Option<Lowered>> {
        let vector = match lowering {
            Lowering::Handler(_) if table::takes_vectors_whole(self.number) => None,
            _ => self.arguments.iter().find_map(|&argument| {
                let ty = function.type_of(argument).ok()?;
                match function.llvm_type(ty).ok()? {
                    llvm::Type::Vector { len, .. } => Some(*len as usize),
                    _ => None,
                }
            }),
        };
        let Some(lanes) = vector else { return self.lower(function, lowering) };
        if lanes as u64 > MAX_SCALARS {
            return Err(Error::unsupported("value of very many numbers"));
        }
        // Operations of several results give a vector for each.
        let mut results: Vec<SmallVec<[Value; 4]>> = Vec::new();
        for lane in 0..lanes {
            let call = Call { lane: Some(lane), ..*self };
            let Some(lowered) = call.lower(function, lowering)? else {
                return Err(Error::unsupported("operation on vectors without a result"));
            };
            for (position, &value) in lowered.scalars()?.iter().enumerate() {
                if results.len() <= position {
                    results.push(SmallVec::new());
                }
                results[position].push(value);
            }
        }
        if matches!(lowering, Lowering::Wave(WaveOp::Match)) {
            // Vectors match where all their elements do: one mask, not one for each element.
            for masks in &mut results {
                let all = masks.drain(..).reduce(|a, b| function.build().binary(BinaryOp::And, a, b));
                masks.extend(all);
            }
        }
        Ok(Some(Lowered::Scalars(results.into_iter().flatten().collect())))
    }

    fn lower(&self, function: &mut FunctionLowering<'_, '_>, lowering: &Lowering) -> Result<Option<Lowered>> {
        let value = match *lowering {
            Lowering::Refused => return Err(Error::unsupported(coverage::refusal(self.number))),
            Lowering::Handler(handler) => return handler(function, self),
            Lowering::Unary(op) => {
                let a = self.float(function, 0)?;
                function.build().unary(op, a)
            }
            Lowering::Binary(op) => {
                let (a, b) = (self.number(function, 0)?, self.number(function, 1)?);
                self.same(function, &[a, b])?;
                let float = matches!(op, BinaryOp::FMax | BinaryOp::FMin);
                self.check_class(function, a, float)?;
                function.build().binary(op, a, b)
            }
            Lowering::Ternary(op) => {
                let operands = [self.number(function, 0)?, self.number(function, 1)?, self.number(function, 2)?];
                self.same(function, &operands)?;
                let float = matches!(op, TernaryOp::FMad | TernaryOp::FFma);
                self.check_class(function, operands[0], float)?;
                let [a, b, c] = operands;
                function.build().ternary(op, a, b, c)
            }
            Lowering::Test(op) => {
                let a = self.float(function, 0)?;
                function.build().convert(op, a, Scalar::Bool)
            }
            Lowering::Derivative(axis, precision) => {
                let a = self.float(function, 0)?;
                let ty = function.function.ty(a);
                function.build().push(Op::Derivative(axis, precision, a), ty)
            }
            Lowering::System(value) => thread::system_value(function, self, value)?,
            Lowering::Wave(op) => return wave::simple(function, self, op).map(Some),
        };
        Ok(Some(Lowered::scalar(value)))
    }

    /// An argument, counted from 0 after the operation's number.
    pub fn argument(&self, index: usize) -> Result<llvm::ValueId> {
        self.arguments.get(index).copied().ok_or_else(|| Error::malformed("too few arguments"))
    }

    /// Number of arguments.
    pub fn len(&self) -> usize {
        self.arguments.len()
    }

    /// An argument that is a number, of any type.
    pub fn number(&self, function: &mut FunctionLowering<'_, '_>, index: usize) -> Result<Value> {
        let argument = self.argument(index)?;
        let lowered = function.value(argument)?;
        match (lowered.scalars()?, self.lane) {
            ([_, _, ..], Some(lane)) => {
                let value = lowered.scalars()?.get(lane).copied();
                value.ok_or_else(|| Error::malformed("vectors of different lengths"))
            }
            _ => lowered.one(),
        }
    }

    /// An argument of a type.
    pub fn typed(&self, function: &mut FunctionLowering<'_, '_>, index: usize, scalar: Scalar) -> Result<Value> {
        let value = self.number(function, index)?;
        if function.function.ty(value) != Type::Scalar(scalar) {
            return Err(Error::malformed(format!("argument is no {scalar}: {index}")));
        }
        Ok(value)
    }

    /// An `i32` argument.
    pub fn i32(&self, function: &mut FunctionLowering<'_, '_>, index: usize) -> Result<Value> {
        self.typed(function, index, Scalar::I32)
    }

    /// An `f32` argument.
    pub fn f32(&self, function: &mut FunctionLowering<'_, '_>, index: usize) -> Result<Value> {
        self.typed(function, index, Scalar::F32)
    }

    /// An argument that is a float of any width.
    pub fn float(&self, function: &mut FunctionLowering<'_, '_>, index: usize) -> Result<Value> {
        let value = self.number(function, index)?;
        self.check_class(function, value, true)?;
        Ok(value)
    }

    /// An argument that is an integer of any width.
    pub fn integer(&self, function: &mut FunctionLowering<'_, '_>, index: usize) -> Result<Value> {
        let value = self.number(function, index)?;
        self.check_class(function, value, false)?;
        Ok(value)
    }

    /// An argument, unless it is undefined or not there.
    pub fn optional(&self, function: &mut FunctionLowering<'_, '_>, index: usize) -> Result<Option<Value>> {
        match self.arguments.get(index) {
            Some(&argument) if !function.is_undefined(argument) => self.number(function, index).map(Some),
            _ => Ok(None),
        }
    }

    /// An argument that must be a constant.
    pub fn constant(&self, function: &FunctionLowering<'_, '_>, index: usize) -> Result<u32> {
        let constant = function.as_integer(self.argument(index)?);
        constant
            .map(|constant| constant as u32)
            .ok_or_else(|| Error::unsupported(format!("argument that is not constant: {index}")))
    }

    /// Some arguments as one vector.
    pub fn vector(
        &self,
        function: &mut FunctionLowering<'_, '_>,
        start: usize,
        lanes: u8,
        scalar: Scalar,
    ) -> Result<Value> {
        let mut values: SmallVec<[Value; 4]> = SmallVec::new();
        for index in start..start + lanes as usize {
            values.push(self.typed(function, index, scalar)?);
        }
        Ok(function.build().compose(&values))
    }

    /// The scalar that the result is, or the first of the structure that it is.
    pub fn result_scalar(&self, function: &FunctionLowering<'_, '_>) -> Result<Scalar> {
        let mut ty = self.ty;
        loop {
            match function.llvm_type(ty)? {
                llvm::Type::Struct { fields, .. } if !fields.is_empty() => ty = fields[0],
                llvm::Type::Vector { element, .. } => ty = *element,
                _ => return function.parent.scalar(ty),
            }
        }
    }

    /// Rejects operands of different types.
    fn same(&self, function: &FunctionLowering<'_, '_>, values: &[Value]) -> Result<()> {
        let same = values.windows(2).all(|pair| function.function.ty(pair[0]) == function.function.ty(pair[1]));
        if same { Ok(()) } else { Err(Error::malformed("operands of different types")) }
    }

    /// Rejects what is no float, or no integer.
    fn check_class(&self, function: &FunctionLowering<'_, '_>, value: Value, float: bool) -> Result<()> {
        let scalar = function.function.ty(value).scalar();
        match scalar {
            Some(scalar) if float && scalar.is_float() || !float && scalar.is_int() => Ok(()),
            _ => Err(Error::malformed("operand of another type than the operation's")),
        }
    }
}
