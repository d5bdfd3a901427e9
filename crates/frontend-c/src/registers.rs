//! Processor registers are inputs: each read gives any value, and a write has no visible effect.
//!
//! A register is an `extern volatile` variable that no file defines, or memory at a constant address. The
//! status register is special: its interrupt flag is the flag that `nesc.rs` keeps. Reads are extracted from
//! their operations, so that all edges of a branch see the same value. Any other use of the address of a
//! register is not modelled, and forbids proofs.

use crate::nesc::{flag_cell, flag_of};
use ir::{
    Assumption, Expr, IntType, Lhs, LocalId, LocationKind, ObjectId, Op, Place, Program, Rhs, Template,
};

/// The address of the status register of AVR processors.
const STATUS_ADDRESS: i128 = 0x5f;

/// What an access touches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Register {
    Input,
    Status,
}

struct Registers<'a> {
    /// With whether each is the status register.
    objects: &'a [(ObjectId, bool)],
    flag: ObjectId,
}

/// Turns all accesses to registers into inputs.
pub fn are_inputs(program: &mut Program, registers: &[ObjectId], flag: ObjectId) {
    let objects: Vec<(ObjectId, bool)> =
        registers.iter().map(|id| (*id, program.objects[*id].name == "SREG")).collect();
    let registers = Registers { objects: &objects, flag };
    for template in program.templates.iter_mut() {
        registers.rewrite(template);
    }
    let mut escaped: Vec<ObjectId> = Vec::new();
    let edges = program.templates.iter().flat_map(|template| &template.edges);
    for expr in edges.flat_map(|edge| &edge.ops).flat_map(Op::expressions) {
        expr.walk(&mut |inner| {
            if let Expr::Address(object, _) = inner
                && objects.iter().any(|(register, _)| register == object)
                && !escaped.contains(object)
            {
                escaped.push(*object);
            }
        });
    }
    for object in escaped {
        let (name, span) = (&program.objects[object].name, program.objects[object].span);
        let text = format!("unsupported: accesses to the register '{name}' through a pointer");
        program.assumptions.push(Assumption { text, span, limits_proof: true });
    }
}

impl Registers<'_> {
    fn register(&self, place: &Place) -> Option<Register> {
        match &place.address {
            Expr::Address(object, _) => {
                let (_, is_status) = self.objects.iter().find(|(register, _)| register == object)?;
                Some(if *is_status { Register::Status } else { Register::Input })
            }
            Expr::Const(STATUS_ADDRESS, _) => Some(Register::Status),
            // Nothing is at the null pointer.
            Expr::Const(address, _) => (*address != 0).then_some(Register::Input),
            _ => None,
        }
    }
    /// The reads of registers in the operations of an edge, in order.
    fn reads(&self, ops: &[Op]) -> Vec<(Register, IntType)> {
        let mut found = Vec::new();
        for expr in ops.iter().flat_map(Op::expressions) {
            expr.walk(&mut |inner| {
                if let Expr::Load(place) = inner
                    && let Some(register) = self.register(place)
                {
                    found.push((register, place.ty));
                }
            });
        }
        found
    }
    fn rewrite(&self, template: &mut Template) {
        for (location, edges) in template.outgoing().enumerate() {
            // The n-th read on one edge of a branch is the n-th on the others.
            let mut read: Vec<((usize, Register, IntType), LocalId)> = Vec::new();
            for edge in &edges[..] {
                let kinds = self.reads(&template.edges[*edge].ops);
                for (index, (register, ty)) in kinds.into_iter().enumerate() {
                    if read.iter().all(|(key, _)| *key != (index, register, ty)) {
                        let span = template.edges[*edge].span;
                        let name = format!("%register{}", template.locals.len());
                        read.push(((index, register, ty), template.local(name, ty, span)));
                    }
                }
            }
            if let (Some(first), false) = (edges.first(), read.is_empty()) {
                let span = template.edges[*first].span;
                let mut here = location;
                for ((_, register, ty), local) in &read {
                    let next = template.location(LocationKind::Normal, template.locations[location].atomic);
                    let flag = Expr::load(flag_cell(self.flag));
                    let op = match register {
                        Register::Input => Op::any(Lhs::Local(*local)),
                        Register::Status if *ty == IntType::U8 => Op::set(Lhs::Local(*local), flag),
                        Register::Status => Op::set(Lhs::Local(*local), Expr::cast(*ty, flag)),
                    };
                    template.edge(here, next, vec![op], span);
                    here = next;
                }
                for edge in edges {
                    template.edges[*edge].source = here;
                }
            }
            for edge in edges {
                self.rewrite_edge(template, *edge, &read);
            }
        }
    }
    fn rewrite_edge(
        &self,
        template: &mut Template,
        edge: ir::EdgeId,
        read: &[((usize, Register, IntType), LocalId)],
    ) {
        let mut ops = std::mem::take(&mut template.edges[edge].ops);
        let span = template.edges[edge].span;
        let mut index = 0;
        for op in &mut ops {
            // In the order of `reads`: that of `expressions`, outer ones first; a register's address has no
            // reads in it.
            let mut values = Vec::new();
            for expr in op.expressions() {
                expr.walk(&mut |inner| {
                    if let Expr::Load(place) = inner
                        && let Some(register) = self.register(place)
                    {
                        let local = read.iter().find(|(key, _)| *key == (index, register, place.ty));
                        values.extend(local.map(|(_, local)| (inner.clone(), *local)));
                        index += 1;
                    }
                });
            }
            // Reads of one register in one operation may get each other's values: they are all arbitrary.
            for expr in op.expressions_mut() {
                expr.rewrite(&mut |inner| {
                    if let Some(at) = values.iter().position(|(load, _)| load == inner) {
                        let (_, local) = if values.iter().filter(|(load, _)| load == inner).count() > 1 {
                            values.remove(at)
                        } else {
                            values[at].clone()
                        };
                        *inner = Expr::Local(local);
                    }
                });
            }
            let Op::Assign(assignment) = op else { continue };
            for (lhs, rhs) in &mut assignment.pairs {
                let Lhs::Memory(place) = lhs else { continue };
                let ty = place.ty;
                match self.register(place) {
                    None => {}
                    Some(Register::Input) => {
                        *lhs = Lhs::Local(template.local("%ignored", ty, span));
                    }
                    Some(Register::Status) => {
                        *lhs = Lhs::Memory(flag_cell(self.flag));
                        *rhs = match rhs {
                            Rhs::Value(value) => Rhs::Value(flag_of(value.clone(), ty)),
                            Rhs::Any | Rhs::Unknown | Rhs::Float(..) => Rhs::Unknown,
                        };
                    }
                }
            }
        }
        template.edges[edge].ops = ops;
    }
}
