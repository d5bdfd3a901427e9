//! Random well-formed programs that use every construct, for the round trip.

use crate::expr::{BinaryOp, Expr, Place, Target, Targets, UnaryOp};
use crate::ids::{LocalId, LocationId, ObjectId, TemplateId};
use crate::op::{Assignment, Callee, Lhs, Op, Rhs};
use crate::program::{
    Assumption, Count, Initial, LocationKind, Object, ObjectRole, Program, Span, Storage, Template,
};
use crate::types::{DataModel, Field, IntType, Layout};
use testkit::random::Random;

const NAMES: [&str; 16] = [
    "x",
    "x",
    "y",
    "main",
    "worker",
    "%1",
    "%2",
    "a.b",
    "lock",
    "i32",
    "",
    "odd name",
    "tricky\"\\\n\u{7}",
    "größe",
    "l0",
    "v#3",
];
const FILES: usize = 2;

/// A well-formed program.
pub(super) fn program(seed: u64) -> Program {
    let mut generator =
        Generator { random: Random::new(seed), program: Program::default(), template: TemplateId(0) };
    generator.program();
    generator.program
}

struct Generator {
    random: Random,
    program: Program,
    template: TemplateId,
}

impl Generator {
    fn name(&mut self) -> String {
        self.random.pick(&NAMES).to_owned()
    }
    fn span(&mut self) -> Span {
        let mut number = |limit| self.random.below(limit) as u32;
        Span { file: number(FILES), line: number(3), column: number(100) }
    }
    fn int_type(&mut self) -> IntType {
        self.random.pick(&IntType::ALL)
    }
    fn pointer(&self) -> IntType {
        self.program.data_model.pointer()
    }

    fn program(&mut self) {
        self.program.data_model = self.random.pick(&[DataModel::Ilp32, DataModel::Lp64]);
        self.program.files = (0..FILES).map(|_| self.name()).collect();
        for _ in 0..self.random.below(3) {
            let (text, span, limits_proof) = (self.name(), self.span(), self.random.once_in(2));
            self.program.assumptions.push(Assumption { text, span, limits_proof });
        }
        let templates = 1 + self.random.below(3);
        for _ in 0..templates {
            let template = self.declare_template();
            self.program.templates.push(template);
        }
        for _ in 0..self.random.below(3) {
            let count =
                if self.random.once_in(2) { Count::Any } else { Count::Exactly(self.random.below(9) as u32) };
            self.program.start.push((TemplateId(self.random.below(templates) as u32), count));
        }
        for _ in 0..self.random.below(8) {
            let object = self.object();
            self.program.objects.push(object);
        }
        for id in self.program.templates.ids() {
            self.template = id;
            self.edges();
        }
    }

    fn declare_template(&mut self) -> Template {
        let mut template = Template { name: self.name(), span: self.span(), ..Template::default() };
        template.role = self.random.pick(&crate::program::TemplateRole::ALL);
        // One local of each type, so that every left-hand side can be had.
        for ty in IntType::ALL {
            for _ in 0..1 + self.random.below(2) {
                template.local(self.name(), ty, self.span());
            }
        }
        template.parameters = self.random.below(4);
        template.result = Some(LocalId(self.random.below(9) as u32));
        template.exit_value = self.random.once_in(2).then_some(LocalId(3));
        for _ in 0..1 + self.random.below(8) {
            let error = crate::ErrorKind::ALL[self.random.below(5)];
            let kinds =
                [LocationKind::End, LocationKind::Exit, LocationKind::Halt, LocationKind::Error(error)];
            let kind = if self.random.once_in(2) { LocationKind::Normal } else { self.random.pick(&kinds) };
            template.location(kind, self.random.once_in(2));
        }
        template.entry = template.location(LocationKind::Normal, self.random.once_in(2));
        template
    }

    fn layout(&mut self, depth: usize) -> Layout {
        match self.random.below(if depth == 0 { 3 } else { 6 }) {
            0 => Layout::Bytes(self.random.below(50) as u64),
            1 => Layout::Sync(super::SYNC_KINDS[self.random.below(4)]),
            2 => Layout::Scalar(self.int_type()),
            3 => {
                let element = Box::new(self.layout(depth - 1));
                // The least stride is an extent, which for locks is more than the natural size.
                let extra = 24 * self.random.below(2) as u64;
                let stride = super::natural(&element).0 + 24 + extra;
                Layout::Array { element, count: self.random.below(4) as u64, stride }
            }
            4 => {
                let element = Box::new(Layout::Scalar(self.int_type()));
                let stride = super::natural(&element).0;
                Layout::Array { element, count: self.random.below(4) as u64, stride }
            }
            _ => {
                let mut offset = 0;
                let mut fields = Vec::new();
                for _ in 0..self.random.below(4) {
                    let layout = self.layout(depth - 1);
                    let size = super::natural(&layout).0 + 24;
                    fields.push(Field { name: self.name(), offset, layout });
                    offset += size;
                }
                Layout::Record(fields)
            }
        }
    }

    fn object(&mut self) -> Object {
        let (name, span, layout) = (self.name(), self.span(), self.layout(3));
        let template = TemplateId(self.random.below(self.program.templates.len()) as u32);
        let storages = [Storage::Static, Storage::Frame(template), Storage::ThreadLocal, Storage::Site];
        let storage = self.random.pick(&storages);
        // Room for the largest layout that is generated, or exactly what the layout says.
        let natural = super::natural(&layout);
        let exact = matches!(layout, Layout::Scalar(_) | Layout::Bytes(_));
        let size = if exact && self.random.once_in(2) { natural.0 } else { natural.0 + 64 };
        let align = if self.random.once_in(2) { natural.1 } else { 1 << self.random.below(10) };
        let initial = match (storage, self.random.below(3)) {
            (_, 0) => Initial::Unknown,
            (Storage::Site, _) | (_, 1) => Initial::Values(vec![]),
            _ => {
                let mut values = Vec::new();
                for _ in 0..1 + self.random.below(2) {
                    let ty = match layout {
                        Layout::Scalar(ty) => ty,
                        _ => self.int_type(),
                    };
                    if let Some(room) = size.checked_sub(ty.bytes()) {
                        let offset = self.random.below(room as usize + 1) as u64;
                        values.push((offset, ty, self.constant(ty, storage)));
                    }
                }
                Initial::Values(values)
            }
        };
        Object { name, storage, size, align, layout, initial, span, role: self.random.pick(&ObjectRole::ALL) }
    }

    fn constant(&mut self, ty: IntType, storage: Storage) -> Expr {
        match self.random.below(4) {
            0 => Expr::cast(ty, Expr::Procedure(TemplateId(0))),
            1 => {
                let fits = |one: &Object| one.storage == storage || one.storage == Storage::Static;
                let mut found = self.program.objects.enumerate().filter(|(_, one)| fits(one));
                let last = found.next_back().map(|(id, one)| (id, one.size));
                drop(found);
                match last {
                    Some((id, size)) => Expr::cast(ty, Expr::Address(id, size)),
                    None => self.number(ty),
                }
            }
            _ => self.number(ty),
        }
    }

    fn number(&mut self, ty: IntType) -> Expr {
        let value = i128::from(self.random.bits());
        let values = [0, 1, -1, ty.min(), ty.max(), value, value % 10];
        Expr::int(self.random.pick(&values), ty)
    }

    fn edges(&mut self) {
        let template = &self.program.templates[self.template];
        let sources: Vec<LocationId> = template
            .locations
            .enumerate()
            .filter(|(_, one)| one.kind == LocationKind::Normal)
            .map(|(id, _)| id)
            .collect();
        let locations = template.locations.len();
        for _ in 0..self.random.below(12) {
            let (source, span) = (self.random.pick(&sources), self.span());
            let target = LocationId(self.random.below(locations) as u32);
            let mut ops: Vec<Op> = (0..self.random.below(3)).map(|_| self.op()).collect();
            if self.random.below(4) == 0 {
                let (callee, arguments) = self.callee();
                let result = self.random.once_in(2).then(|| Lhs::Local(LocalId(self.random.below(9) as u32)));
                ops.push(Op::Call(callee, arguments, result));
            }
            self.program.templates[self.template].edge(source, target, ops, span);
        }
    }

    fn callee(&mut self) -> (Callee, Vec<Expr>) {
        let arguments = (0..3 + self.random.below(2)).map(|_| self.any_expression(1)).collect();
        let callee = if self.random.once_in(2) {
            Callee::Pointer(self.expression(self.pointer(), 2))
        } else {
            Callee::Procedure(TemplateId(self.random.below(self.program.templates.len()) as u32))
        };
        (callee, arguments)
    }

    fn op(&mut self) -> Op {
        let pointer = self.pointer();
        let lock = super::LOCK_KINDS[self.random.below(4)];
        match self.random.below(11) {
            0 => Op::Assume(self.expression(IntType::BOOL, 3)),
            1 => Op::Lock(lock, self.expression(pointer, 2)),
            2 => Op::Unlock(lock, self.expression(pointer, 2)),
            3 => {
                let (callee, arguments) = self.callee();
                Op::Spawn(callee, arguments, self.random.once_in(2).then(|| self.lhs(pointer)))
            }
            4 => {
                let ty = self.int_type();
                Op::Join(self.expression(pointer, 2), self.random.once_in(2).then(|| self.lhs(ty)))
            }
            5 => {
                let site = self.program.objects.enumerate().find(|(_, one)| one.storage == Storage::Site);
                match site.map(|(id, _)| id) {
                    Some(site) => {
                        let (size, zeroed) = (self.expression(pointer, 2), self.random.once_in(2));
                        Op::Allocate { site, size, zeroed, result: self.lhs(pointer) }
                    }
                    None => Op::Free(self.expression(pointer, 2)),
                }
            }
            6 => Op::Fill(self.expression(pointer, 2), self.any_expression(2), self.expression(pointer, 2)),
            7 => Op::Copy(
                self.expression(pointer, 2),
                self.expression(pointer, 2),
                self.expression(pointer, 2),
            ),
            _ => self.assignment(),
        }
    }

    fn assignment(&mut self) -> Op {
        let mut pairs: Vec<(Lhs, Rhs)> = Vec::new();
        for _ in 0..self.random.below(4) {
            let ty = self.int_type();
            let lhs = self.lhs(ty);
            let rhs = match self.random.below(4) {
                0 => Rhs::Any,
                1 => Rhs::Unknown,
                2 if ty == IntType::U64 => {
                    let operands = vec![self.expression(ty, 1), self.expression(ty, 1)];
                    Rhs::Float(crate::FloatOp::Mul, crate::FloatFormat::Double, operands)
                }
                _ => Rhs::Value(self.expression(ty, 3)),
            };
            // Cells of memory may coincide: only one of them, to be sure.
            let memory = |lhs: &Lhs| matches!(lhs, Lhs::Memory(_));
            if pairs.iter().all(|(other, _)| *other != lhs && !(memory(other) && memory(&lhs))) {
                pairs.push((lhs, rhs));
            }
        }
        let constraint = self.random.once_in(2).then(|| {
            let ty = self.int_type();
            let old = Expr::Old(Box::new(self.expression(ty, 2)));
            Expr::binary(BinaryOp::Le, ty, old, self.expression(ty, 2))
        });
        Op::Assign(Assignment { pairs, constraint })
    }

    fn local(&mut self, ty: IntType) -> LocalId {
        let template = &self.program.templates[self.template];
        let fitting: Vec<LocalId> =
            template.locals.enumerate().filter(|(_, local)| local.ty == ty).map(|(id, _)| id).collect();
        self.random.pick(&fitting)
    }

    fn lhs(&mut self, ty: IntType) -> Lhs {
        if self.random.once_in(2) { Lhs::Local(self.local(ty)) } else { Lhs::Memory(self.place(ty, 2)) }
    }

    fn place(&mut self, ty: IntType, depth: usize) -> Place {
        let address = self.expression(self.pointer(), depth.saturating_sub(1));
        let targets = match (self.random.below(3), self.program.objects.len()) {
            (1, objects @ 1..) => {
                let mut found = Vec::new();
                for _ in 0..self.random.below(3) {
                    let object = ObjectId(self.random.below(objects) as u32);
                    let (stride, count) = self.random.pick(&[(0, 1), (4, 3), (8, u64::MAX), (1, 1)]);
                    found.push(Target { object, first: self.random.below(3) as u64, stride, count });
                }
                Targets::Of(found.into())
            }
            (2, _) => Targets::Of([].into()),
            _ => Targets::Any,
        };
        Place { address, ty, atomic: self.random.once_in(2), targets }
    }

    fn any_expression(&mut self, depth: usize) -> Expr {
        let ty = self.int_type();
        self.expression(ty, depth)
    }

    fn expression(&mut self, ty: IntType, depth: usize) -> Expr {
        if ty == self.pointer() && self.random.below(3) == 0 {
            return self.address();
        }
        if depth == 0 {
            return if self.random.once_in(2) { self.number(ty) } else { Expr::Local(self.local(ty)) };
        }
        let depth = depth - 1;
        let other = self.int_type();
        let arithmetic = &BinaryOp::ALL[..8];
        let comparisons = &BinaryOp::ALL[10..];
        match self.random.below(if ty == IntType::BOOL { 10 } else { 7 }) {
            0 => Expr::load(self.place(ty, depth)),
            1 => Expr::unary(self.random.pick(&[UnaryOp::Neg, UnaryOp::Not]), ty, self.expression(ty, depth)),
            2 => Expr::cast(ty, self.expression(other, depth)),
            3 => {
                let condition = self.expression(IntType::BOOL, depth);
                Expr::IfThenElse(Box::new((
                    condition,
                    self.expression(ty, depth),
                    self.expression(ty, depth),
                )))
            }
            4 => {
                let op = self.random.pick(&[BinaryOp::Shl, BinaryOp::Shr]);
                Expr::binary(op, ty, self.expression(ty, depth), self.expression(other, depth))
            }
            5 | 6 => {
                let op = self.random.pick(arithmetic);
                Expr::binary(op, ty, self.expression(ty, depth), self.expression(ty, depth))
            }
            7 => {
                let op = self.random.pick(comparisons);
                Expr::binary(op, other, self.expression(other, depth), self.expression(other, depth))
            }
            8 => {
                let signed = self.random.pick(&[IntType::I8, IntType::I16, IntType::I32, IntType::I64]);
                let op = self.random.pick(&BinaryOp::ALL[..10]);
                let pair = (self.expression(signed, depth), self.expression(signed, depth));
                Expr::Overflows(op, signed, Box::new(pair))
            }
            _ => Expr::Valid(Box::new(self.expression(self.pointer(), depth)), self.random.below(9) as u64),
        }
    }

    fn address(&mut self) -> Expr {
        let mine = |one: &Object| match one.storage {
            Storage::Static | Storage::ThreadLocal => true,
            Storage::Frame(template) => template == self.template,
            Storage::Site => false,
        };
        let objects = self.program.objects.enumerate();
        let fitting: Vec<(ObjectId, u64)> =
            objects.filter(|(_, one)| mine(one)).map(|(id, one)| (id, one.size)).collect();
        match self.random.below(4) {
            0 => Expr::Myself,
            1 => Expr::Procedure(TemplateId(self.random.below(self.program.templates.len()) as u32)),
            _ if fitting.is_empty() => Expr::Myself,
            _ => {
                let (object, size) = self.random.pick(&fitting);
                Expr::Address(object, self.random.pick(&[0, size]))
            }
        }
    }
}
