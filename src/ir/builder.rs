//! Appends instructions to a function, folding the vector shuffles that front ends make in passing.

use smallvec::SmallVec;

use super::{
    BinaryOp, Block, CompareOp, ConvertOp, Edge, Function, Inst, Op, Scalar, Terminator, TernaryOp, Type, UnaryOp,
    Value, ValueDef,
};

/// Appends to one block after another of a function.
#[derive(Debug)]
pub struct Builder<'a> {
    /// What is built.
    pub function: &'a mut Function,
    /// The block that instructions are appended to.
    pub block: Block,
    /// Marks instructions as precise.
    pub precise: bool,
    /// Number of the container's instruction that is being lowered.
    pub origin: u32,
}

impl<'a> Builder<'a> {
    /// A builder at the end of a block.
    pub fn new(function: &'a mut Function, block: Block) -> Self {
        Self { function, block, precise: false, origin: 0 }
    }

    /// Appends an instruction whose result (if any) has type `ty`.
    pub fn push(&mut self, op: Op, ty: Type) -> Value {
        let inst = Inst { op, precise: self.precise, origin: self.origin };
        let value = self.function.add_value(ValueDef::Inst(inst), ty);
        self.function.blocks[self.block.index()].insts.push(value);
        value
    }

    /// Appends an instruction without a result.
    pub fn effect(&mut self, op: Op) {
        self.push(op, Type::Void);
    }

    /// Type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.function.ty(value)
    }

    /// An `i32` constant.
    pub fn i32(&mut self, value: u32) -> Value {
        self.function.i32(value)
    }

    /// An `f32` constant.
    pub fn f32(&mut self, value: f32) -> Value {
        self.function.f32(value)
    }

    /// Zero of a type.
    pub fn zero(&mut self, ty: Type) -> Value {
        self.function.zero(ty)
    }

    /// One operand, result of its type.
    pub fn unary(&mut self, op: UnaryOp, a: Value) -> Value {
        let ty = match op {
            UnaryOp::CountBits | UnaryOp::FirstBitLow | UnaryOp::FirstBitHigh | UnaryOp::FirstBitSignedHigh => {
                self.ty(a).with_scalar(Scalar::I32)
            }
            _ => self.ty(a),
        };
        self.push(Op::Unary(op, a), ty)
    }

    /// Two operands of one type, result of the same.
    pub fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        self.push(Op::Binary(op, a, b), self.ty(a))
    }

    /// Two operands of one type, result `bool`.
    pub fn compare(&mut self, op: CompareOp, a: Value, b: Value) -> Value {
        self.push(Op::Compare(op, a, b), self.ty(a).with_scalar(Scalar::Bool))
    }

    /// Three operands of one type, result of the same.
    pub fn ternary(&mut self, op: TernaryOp, a: Value, b: Value, c: Value) -> Value {
        self.push(Op::Ternary(op, a, b, c), self.ty(a))
    }

    /// A choice.
    pub fn select(&mut self, condition: Value, accept: Value, reject: Value) -> Value {
        self.push(Op::Select { condition, accept, reject }, self.ty(accept))
    }

    /// Conversion to another scalar type, lane by lane.
    pub fn convert(&mut self, op: ConvertOp, a: Value, to: Scalar) -> Value {
        self.push(Op::Convert(op, a), self.ty(a).with_scalar(to))
    }

    /// The same bits as lanes of another scalar type of the same width; nothing if it is that type already.
    pub fn bitcast(&mut self, a: Value, to: Scalar) -> Value {
        let ty = self.ty(a).with_scalar(to);
        if self.ty(a) == ty {
            return a;
        }
        if let Some(lanes) = self.function.as_constant(a) {
            let lanes = SmallVec::<[u64; 4]>::from_slice(lanes);
            return self.function.constant(ty, &lanes);
        }
        if let Some(&Op::Convert(ConvertOp::Bitcast, inner)) = self.function.op(a)
            && self.ty(inner).lanes() == ty.lanes()
        {
            return self.bitcast(inner, to);
        }
        self.push(Op::Convert(ConvertOp::Bitcast, a), ty)
    }

    /// One lane of a vector; a scalar is its own lane 0.
    pub fn extract(&mut self, vector: Value, lane: u8) -> Value {
        let Type::Vector(scalar, _) = self.ty(vector) else { return vector };
        if let Some(lanes) = self.function.as_constant(vector) {
            let bits = lanes[lane as usize];
            return self.function.constant(Type::Scalar(scalar), &[bits]);
        }
        match self.function.op(vector) {
            Some(Op::Compose(values)) => values[lane as usize],
            Some(Op::Swizzle(base, lanes)) => {
                let (base, lane) = (*base, lanes[lane as usize]);
                self.extract(base, lane)
            }
            _ => self.push(Op::Extract(vector, lane), Type::Scalar(scalar)),
        }
    }

    /// A vector of scalars of one type, or the scalar itself if there is one.
    pub fn compose(&mut self, lanes: &[Value]) -> Value {
        if let [lane] = lanes {
            return *lane;
        }
        let scalar = self.ty(lanes[0]).scalar().expect("lanes are numbers");
        let ty = Type::new(scalar, lanes.len() as u8);
        let constants: Option<SmallVec<[u64; 4]>> =
            lanes.iter().map(|&lane| self.function.as_scalar_constant(lane)).collect();
        if let Some(constants) = constants {
            return self.function.constant(ty, &constants);
        }
        let sources: Option<SmallVec<[(Value, u8); 4]>> = lanes
            .iter()
            .map(|&lane| match self.function.op(lane) {
                Some(&Op::Extract(vector, index)) => Some((vector, index)),
                _ => None,
            })
            .collect();
        if let Some(sources) = sources
            && sources.iter().all(|source| source.0 == sources[0].0)
        {
            let order: SmallVec<[u8; 4]> = sources.iter().map(|source| source.1).collect();
            return self.swizzle(sources[0].0, &order);
        }
        if lanes.iter().all(|lane| *lane == lanes[0]) {
            return self.push(Op::Swizzle(lanes[0], SmallVec::from_elem(0, lanes.len())), ty);
        }
        self.push(Op::Compose(SmallVec::from_slice(lanes)), ty)
    }

    /// Lanes of a vector (or copies of a scalar) in another order.
    pub fn swizzle(&mut self, vector: Value, order: &[u8]) -> Value {
        let ty = self.ty(vector);
        if ty.lanes() as usize == order.len() && order.iter().enumerate().all(|(lane, &from)| lane == from as usize) {
            return vector;
        }
        if let [lane] = order {
            return self.extract(vector, *lane);
        }
        let scalar = ty.scalar().expect("lanes are numbers");
        let result = Type::new(scalar, order.len() as u8);
        if let Some(lanes) = self.function.as_constant(vector) {
            let lanes: SmallVec<[u64; 4]> = order.iter().map(|&from| lanes[from as usize]).collect();
            return self.function.constant(result, &lanes);
        }
        match self.function.op(vector) {
            Some(Op::Compose(values)) => {
                let lanes: SmallVec<[Value; 4]> = order.iter().map(|&from| values[from as usize]).collect();
                self.compose(&lanes)
            }
            Some(Op::Swizzle(base, lanes)) => {
                let order: SmallVec<[u8; 4]> = order.iter().map(|&from| lanes[from as usize]).collect();
                let base = *base;
                self.swizzle(base, &order)
            }
            _ => self.push(Op::Swizzle(vector, SmallVec::from_slice(order)), result),
        }
    }

    /// A scalar in every lane.
    pub fn splat(&mut self, scalar: Value, lanes: u8) -> Value {
        self.compose(&[scalar; 4][..lanes as usize])
    }

    /// Ends the block.
    pub fn terminate(&mut self, terminator: Terminator) {
        self.function.blocks[self.block.index()].terminator = terminator;
    }

    /// Ends the block by going to another, with arguments.
    pub fn jump(&mut self, block: Block, args: &[Value]) {
        self.terminate(Terminator::Jump(Edge { block, args: SmallVec::from_slice(args) }));
    }

    /// Ends the block by going one of two ways, without arguments.
    pub fn branch(&mut self, condition: Value, accept: Block, reject: Block) {
        self.terminate(Terminator::Branch { condition, accept: Edge::new(accept), reject: Edge::new(reject) });
    }
}
