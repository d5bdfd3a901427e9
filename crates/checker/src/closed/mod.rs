//! Tests that points-to sets are closed under every step of a program.
//!
//! Engines and proof rules take points-to sets from one analysis ([`ir::passes::PointsTo`]). It is not
//! believed: it *claims* sets ([`ir::passes::points_to::claim`]), and what is here, written apart from it,
//! tests that they are an invariant.
//!
//! The invariant: a value that is computed from an address is at one of the places that the claim names for
//! the local, or for the bytes, that hold it. A place is some bytes of an object (of any of the objects that
//! it stands for), or a procedure. Induction: at the start, locals are 0, and memory has its first values,
//! which are tested. Each step changes locals and memory by its operations; for each, what the new value may
//! be follows from the sets of what it is computed from (`values.rs`), and must be in the set of what it is
//! stored in. So it is after every step. Every operation of the program is looked at once, whether it can
//! be reached or not.
//!
//! From the invariant follows what rules use: an access is made at one of the places of its address, which
//! must be among the targets of the address; a call reaches one of the procedures of its pointer.
//!
//! What the program is assumed to do is what [`ir::passes::points_to`] lists, and nothing else:
//! 1. An address that is computed from one in an object is in that object, or just past it.
//! 2. Constants and memory that was never set hold no addresses, nor do values narrower than a pointer that
//!    are left open. An input of a pointer's width, and an unknown number with a bound, is one of the
//!    addresses that it is compared with, or, if a sum of it and a constant is compared, or its difference
//!    with one, in the object of one; where numbers are foreign, only constraints count; one below a constant
//!    under 2^31 is none. Any other unknown value is one of the addresses that are taken.
//! 3. Code outside of the program knows addresses that it was given, moved within their objects, and what is
//!    stored there ([`ObjectRole::Given`]).
//! 4. Nothing is written to a constant.
//! 5. Where numbers are foreign ([`Program::foreign_numbers`]), no address that is followed was joined from
//!    parts of addresses.
//!
//! A claim may tell parts of addresses from addresses ([`Place::Part`]): then a value narrower than a pointer
//! that is computed from addresses is a part of them, and so is a product, a quotient, what is shifted, and
//! the difference of two pointers. What is computed from a part is one. So an address that was put together
//! from parts has a part in its set, and it is tested that none which is followed has; or rule 5 says so.
//!
//! Taken from the analysis as they are: the ranges of the amounts that addresses are moved by
//! ([`PointsTo::claimed_range`]).

mod inherited;
mod offsets;
mod reads;
mod sets;
#[cfg(test)]
mod tests;
mod values;

use inherited::Inherited;
use ir::ids::Id;
use ir::passes::PointsTo;
use ir::passes::points_to::claim::Claim;
use ir::{
    Assignment, BinaryOp, Callee, EdgeId, Expr, Initial, IntType, Lhs, LocalId, LocationKind, ObjectId,
    ObjectRole, Op, Place as Cell, PointerArithmetic, Program, Rhs, Target, Targets, TemplateId,
};
use offsets::{Move, Offsets};
use reads::Reads;
use rustc_hash::{FxHashMap, FxHashSet};
use sets::{EMPTY, Place, Set, Sets};
use std::sync::Arc;
use verdict::{Budget, Exhausted};

/// Tests that the points-to sets of a program are closed: says which step leaves them.
pub fn test(
    program: &Program,
    points_to: &PointsTo,
    budget: &Budget,
) -> Result<Result<(), String>, Exhausted> {
    test_claim(program, (points_to, &points_to.claim(program)), None, budget)
}

/// The same for a view: its places may have targets that were tested in the program that it was derived from.
pub fn test_view(
    view: &Program,
    points_to: &PointsTo,
    base: &Program,
    budget: &Budget,
) -> Result<Result<(), String>, Exhausted> {
    test_claim(view, (points_to, &points_to.claim(view)), Some(base), budget)
}

/// The same for what is claimed to be these sets.
fn test_claim(
    program: &Program,
    (points_to, claim): (&PointsTo, &Claim),
    base: Option<&Program>,
    budget: &Budget,
) -> Result<Result<(), String>, Exhausted> {
    let sets = match Sets::of(program, claim) {
        Ok(sets) => sets,
        Err(wrong) => return Ok(Err(wrong)),
    };
    let mut auditor = Auditor {
        program,
        points_to,
        pointer: program.data_model.pointer(),
        tells_parts: claim.tells_parts,
        sets,
        compared: FxHashSet::default(),
        compared_with_anything: Vec::new(),
        inside: FxHashSet::default(),
        lists: Vec::new(),
        reads: FxHashMap::default(),
        base,
        inherited: None,
    };
    let tested = auditor.first_values().and_then(|()| auditor.given()).and_then(|()| auditor.threads());
    if tested.is_err() {
        return Ok(tested);
    }
    let mut edges = 0u32;
    for (template, code) in program.templates.enumerate() {
        for (edge, step) in code.edges.enumerate() {
            edges += 1;
            if edges.is_multiple_of(64) {
                budget.check(0)?;
            }
            for (index, op) in step.ops.iter().enumerate() {
                if let Err(what) = auditor.op(&Spot { template, edge, index }, op) {
                    return Ok(Err(format!("{} line {}: {what}", code.name, step.span.line)));
                }
            }
        }
    }
    Ok(auditor.hidden_inputs())
}

/// Where an operation is.
struct Spot {
    template: TemplateId,
    edge: EdgeId,
    index: usize,
}

/// What a test says.
type Tested = Result<(), String>;

fn require(holds: bool, what: &str) -> Tested {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

struct Auditor<'a> {
    program: &'a Program,
    points_to: &'a PointsTo,
    pointer: IntType,
    /// Whether the claim tells parts of addresses from addresses.
    tells_parts: bool,
    sets: Sets<'a>,
    /// Pairs of sets that were compared, and whether by their difference.
    compared: FxHashSet<(Set, Set, bool)>,
    /// Sets that were compared with one of which nothing is known.
    compared_with_anything: Vec<Set>,
    /// Sets that are inside of lists of targets, by the list's address.
    inside: FxHashSet<(Set, *const Target)>,
    /// These lists, so that their addresses stay theirs.
    lists: Vec<Arc<[Target]>>,
    /// Where templates that were asked about read their locals.
    reads: FxHashMap<TemplateId, Reads>,
    /// The program that a view was derived from.
    base: Option<&'a Program>,
    /// The targets that it has from there, once they are asked for.
    inherited: Option<Inherited<'a>>,
}

impl<'a> Auditor<'a> {
    fn first_values(&mut self) -> Tested {
        for (id, object) in self.program.objects.enumerate() {
            let Initial::Values(values) = &object.initial else { continue };
            for (offset, ty, value) in values {
                // First values name no locals.
                let value = self.value(TemplateId(0), value);
                // A constant has first values as well, though nothing is written to it.
                let stays = self.sets.has_room(id, &Offsets::one((*offset).into()), ty.bytes(), value);
                require(stays, &format!("the first value of {}", object.name))?;
            }
        }
        Ok(())
    }

    /// Rule 3: what is known outside of the program may be given on, moved within its object, and so may
    /// what is stored there.
    fn given(&mut self) -> Tested {
        let objects = self.program.objects.enumerate();
        let given: Vec<ObjectId> =
            objects.filter(|(_, object)| object.role == ObjectRole::Given).map(|(id, _)| id).collect();
        let known = given.iter().map(|object| self.sets.content(*object)).collect();
        let known = self.sets.union(known);
        let moved = self.sets.moved(known, Move::Times(1));
        let read = self.sets.load(known, self.pointer.bytes());
        for object in given {
            for set in [known, moved, read] {
                require(self.sets.all_cells_have(object, set), "what code outside of the program knows")?;
            }
        }
        Ok(())
    }

    /// What threads give back.
    fn threads(&mut self) -> Tested {
        for (template, _) in &self.program.start {
            self.gives_back(*template)?;
        }
        for (id, code) in self.program.templates.enumerate() {
            let exits = code.locations.iter().any(|location| location.kind == LocationKind::Exit);
            if let (true, Some(local)) = (exits, code.exit_value) {
                let value = self.sets.locals[id][local];
                require(self.sets.is_subset(value, self.sets.results), "what a thread gives back")?;
            }
        }
        Ok(())
    }

    fn gives_back(&mut self, template: TemplateId) -> Tested {
        let Some(local) = self.program.templates[template].result else { return Ok(()) };
        let value = self.sets.locals[template][local];
        require(self.sets.is_subset(value, self.sets.results), "what a thread gives back")
    }

    fn op(&mut self, spot: &Spot, op: &Op) -> Tested {
        let template = spot.template;
        let constraint = match op {
            Op::Assign(assignment) => assignment.constraint.as_ref(),
            _ => None,
        };
        for expr in op.expressions() {
            let in_constraint = constraint.is_some_and(|constraint| std::ptr::eq(constraint, expr));
            self.expression(template, expr, in_constraint)?;
        }
        for lhs in op.targets() {
            if let Lhs::Memory(place) = lhs {
                self.place(template, place)?;
            }
        }
        match op {
            Op::Assume(_) => Ok(()),
            Op::Lock(_, address) | Op::Unlock(_, address) | Op::Free(address) => {
                self.address(template, address, None)
            }
            Op::Assign(assignment) => self.assign(spot, template, assignment),
            Op::Spawn(callee, arguments, _) => {
                for callee in self.callees(template, callee)? {
                    self.passes(template, callee, arguments)?;
                    self.gives_back(callee)?;
                }
                Ok(())
            }
            Op::Call(callee, arguments, lhs) => {
                for callee in self.callees(template, callee)? {
                    self.passes(template, callee, arguments)?;
                    if let (Some(lhs), Some(result)) = (lhs, self.program.templates[callee].result) {
                        let result = self.sets.locals[callee][result];
                        self.stores(template, lhs, result)?;
                    }
                }
                Ok(())
            }
            Op::Join(_, Some(lhs)) => self.stores(template, lhs, self.sets.results),
            Op::Join(_, None) => Ok(()),
            Op::Allocate { site, result, .. } => {
                let address = self.sets.these([Place::Bytes(*site, Offsets::one(0))]);
                self.stores(template, result, address)
            }
            Op::Fill(to, byte, _) => {
                self.address(template, to, None)?;
                let (to, byte) = (self.value(template, to), self.value(template, byte));
                require(self.sets.fits(to, u64::MAX, byte), "a byte of an address fills memory")
            }
            Op::Copy(to, from, size) => {
                self.address(template, to, None)?;
                self.address(template, from, None)?;
                let (to, from) = (self.value(template, to), self.value(template, from));
                let size = match size {
                    Expr::Const(size, _) => u64::try_from(*size).ok(),
                    _ => None,
                };
                require(self.sets.can_copy(to, from, size), "memory is copied")
            }
            Op::Broadcast(broadcast) => {
                let sent = Op::Assign(broadcast.assignment.clone());
                for expr in sent.expressions() {
                    self.expression(broadcast.to, expr, false)?;
                }
                for (local, argument) in &broadcast.arguments {
                    let value = self.value(template, argument);
                    let local = self.sets.locals[broadcast.to][*local];
                    require(self.sets.is_subset(value, local), "what other threads are sent")?;
                }
                self.assign(spot, broadcast.to, &broadcast.assignment)
            }
        }
    }

    /// What an assignment in the code of a template stores.
    fn assign(&mut self, spot: &Spot, template: TemplateId, assignment: &Assignment) -> Tested {
        for (lhs, rhs) in &assignment.pairs {
            match rhs {
                Rhs::Value(value) => {
                    let value = self.value(template, value);
                    self.stores(template, lhs, value)?;
                }
                Rhs::Float(_, _, operands) => {
                    let values = operands.iter().map(|operand| self.value(template, operand)).collect();
                    let value = self.sets.union(values);
                    let value = self.sets.moved(value, Move::Times(1));
                    self.stores(template, lhs, value)?;
                }
                Rhs::Any => self.input(spot, template, lhs, assignment.constraint.as_ref(), true)?,
                Rhs::Unknown => self.input(spot, template, lhs, assignment.constraint.as_ref(), false)?,
            }
        }
        Ok(())
    }

    /// Rule 2: a value that is left open. An input may be any address that it is compared with. The claim
    /// numbers inputs; the same number may stand for several. So one of the numbers that the left-hand side
    /// may hold must have all that it stands for there.
    fn input(
        &mut self,
        spot: &Spot,
        template: TemplateId,
        lhs: &Lhs,
        constraint: Option<&Expr>,
        is_input: bool,
    ) -> Tested {
        let ty = match lhs {
            Lhs::Local(local) => self.program.templates[template].locals[*local].ty,
            Lhs::Memory(place) => place.ty,
        };
        if ty.bits < self.pointer.bits {
            return Ok(());
        }
        let bounds = match (lhs, constraint) {
            (Lhs::Local(local), Some(constraint)) => upper_bounds(*local, constraint),
            _ => Vec::new(),
        };
        let is_small = |bound: &&Expr| matches!(bound, Expr::Const(value, _) if *value < LEAST_ADDRESS);
        if bounds.iter().any(is_small) {
            return Ok(());
        }
        let anything = self.sets.these([Place::Anything]);
        if self.can_store(template, lhs, anything) {
            return Ok(());
        }
        if is_input || !bounds.is_empty() {
            let holder = self.holder(template, lhs);
            for (number, moved) in self.sets.inputs_in(holder) {
                let known = self.sets.inputs.get(number as usize).copied().filter(|_| !moved);
                let Some(known) = known else { continue };
                let input = self.sets.these([Place::Input(number, false)]);
                let both = self.sets.union(vec![known, input]);
                if self.can_store(template, lhs, both) {
                    return Ok(());
                }
            }
        }
        let is_dead = match (lhs, constraint) {
            (Lhs::Local(local), None) => template == spot.template && !self.is_read(spot, *local),
            _ => false,
        };
        require(is_dead, "a value that is left open")
    }

    /// The set of what is stored, for the numbers of inputs in it.
    fn holder(&mut self, template: TemplateId, lhs: &Lhs) -> Set {
        match lhs {
            Lhs::Local(local) => self.sets.locals[template][*local],
            Lhs::Memory(place) => {
                let address = self.value(template, &place.address);
                self.sets.load(address, place.ty.bytes())
            }
        }
    }

    /// Whether a local may be read after an operation before it is assigned again.
    fn is_read(&mut self, spot: &Spot, local: LocalId) -> bool {
        let code = &self.program.templates[spot.template];
        // A broadcast reads locals of other threads.
        self.program.has_broadcasts() || {
            let reads = self.reads.entry(spot.template).or_insert_with(|| Reads::of(code));
            reads.follow(code, (spot.edge, spot.index), local)
        }
    }

    /// What is passed to the parameters of a procedure.
    fn passes(&mut self, template: TemplateId, callee: TemplateId, arguments: &[Expr]) -> Tested {
        for (index, argument) in arguments.iter().enumerate().take(self.program.templates[callee].parameters)
        {
            let value = self.value(template, argument);
            let parameter = self.sets.locals[callee][LocalId::new(index)];
            let name = &self.program.templates[callee].name;
            require(self.sets.is_subset(value, parameter), &format!("what {name} is passed"))?;
        }
        Ok(())
    }

    /// The procedures that are called or started.
    fn callees(&mut self, template: TemplateId, callee: &Callee) -> Result<Vec<TemplateId>, String> {
        let pointer = match callee {
            Callee::Procedure(callee) => return Ok(vec![*callee]),
            Callee::Pointer(pointer) => pointer,
        };
        let set = self.value(template, pointer);
        let mut found = Vec::new();
        for place in self.sets.places(set) {
            match place {
                Place::Procedure(callee) => found.push(*callee),
                Place::Anything => found.extend(&self.sets.taken_procedures),
                Place::Bytes(..) | Place::Input(..) | Place::Part => {}
            }
        }
        self.follows(set)?;
        let listed = self.points_to.callees(template, pointer);
        require(found.iter().all(|callee| listed.contains(callee)), "a procedure is not listed")?;
        Ok(found)
    }

    fn stores(&mut self, template: TemplateId, lhs: &Lhs, value: Set) -> Tested {
        if self.can_store(template, lhs, value) {
            return Ok(());
        }
        match lhs {
            Lhs::Local(local) => {
                let missing = self.sets.missing(value, self.sets.locals[template][*local]);
                let name = &self.program.templates[template].locals[*local].name;
                Err(format!("{name} may hold the address of {missing}"))
            }
            Lhs::Memory(_) => Err("memory may hold an address that is stored there".to_owned()),
        }
    }

    fn can_store(&mut self, template: TemplateId, lhs: &Lhs, value: Set) -> bool {
        match lhs {
            Lhs::Local(local) => self.sets.is_subset(value, self.sets.locals[template][*local]),
            Lhs::Memory(place) => {
                let address = self.value(template, &place.address);
                self.sets.fits(address, place.ty.bytes(), value)
            }
        }
    }

    /// What is in an expression that is evaluated: places where memory is read, and comparisons. Where inputs
    /// are foreign ([`Program::foreign_numbers`]), those comparisons of addresses count that the constraint
    /// of an assignment makes.
    fn expression(&mut self, template: TemplateId, expr: &Expr, in_constraint: bool) -> Tested {
        let mut in_operands = in_constraint;
        match expr {
            Expr::Load(place) => {
                self.place(template, place)?;
                in_operands = false;
            }
            Expr::Valid(address, _) => {
                let set = self.value(template, address);
                self.follows(set)?;
                in_operands = false;
            }
            Expr::Binary(op, ty, pair) if shows_equality(self.pointer, *op, *ty, pair) => {
                if !self.program.foreign_numbers || in_constraint && *ty == self.pointer.unsigned() {
                    let (left, right) = (self.value(template, &pair.0), self.value(template, &pair.1));
                    self.compare(left, right, !op.is_comparison())?;
                }
                in_operands = false;
            }
            _ => {}
        }
        expr.operands().into_iter().try_for_each(|operand| self.expression(template, operand, in_operands))
    }

    /// Two values are compared: an input on one side may be what is on the other; or, if it is their
    /// difference that shows, a constant away from it.
    fn compare(&mut self, left: Set, right: Set, is_difference: bool) -> Tested {
        if !self.compared.insert((left, right, is_difference)) {
            return Ok(());
        }
        for (one, other) in [(left, right), (right, left)] {
            if other == EMPTY {
                continue;
            }
            for (number, moved) in self.sets.inputs_in(one) {
                self.may_be((number, moved || is_difference), other)?;
            }
            if self.sets.has_anything(one) {
                self.compared_with_anything.push(other);
            }
        }
        Ok(())
    }

    /// An input may be any of some addresses; or, if that is what something is that it was moved to, another
    /// address in their objects.
    fn may_be(&mut self, (number, moved): (u32, bool), set: Set) -> Tested {
        let set = if moved { self.sets.moved(set, Move::Times(1)) } else { set };
        let known = self.sets.inputs.get(number as usize).copied().unwrap_or(EMPTY);
        if self.sets.is_subset(set, known) {
            return Ok(());
        }
        Err(format!("input {number} may be the address of {}", self.sets.missing(set, known)))
    }

    /// Inputs that are in sets of anything are compared with all that such sets are compared with, and may
    /// have been moved there.
    fn hidden_inputs(&mut self) -> Tested {
        let all = self.sets.union(self.compared_with_anything.clone());
        let mut tested = 0;
        // A test may hide more of them.
        while self.sets.hidden().len() > tested {
            let hidden = self.sets.hidden();
            tested = hidden.len();
            hidden.into_iter().try_for_each(|number| self.may_be((number, true), all))?;
        }
        Ok(())
    }

    fn place(&mut self, template: TemplateId, place: &Cell) -> Tested {
        match place.as_cell() {
            Some(_) => Ok(()),
            None => self.address(template, &place.address, Some(&place.targets)),
        }
    }

    /// Memory is accessed at an address: the targets of the address have all its places.
    fn address(&mut self, template: TemplateId, address: &Expr, annotated: Option<&Targets>) -> Tested {
        if matches!(address, Expr::Address(..)) {
            return Ok(());
        }
        let set = self.value(template, address);
        self.follows(set)?;
        let found = self.points_to.targets(template, address);
        for (targets, is_annotated) in [(Some(&found), false), (annotated, true)] {
            if let Some(Targets::Of(targets)) = targets
                && let Some(missing) = self.not_listed(set, targets)
                && !(is_annotated && self.is_inherited(targets))
            {
                return Err(format!("an address points to {missing}"));
            }
        }
        Ok(())
    }

    /// An address is followed that is in a set: it is none that was joined from parts, unless that is
    /// assumed.
    fn follows(&self, set: Set) -> Tested {
        let is_whole = self.program.foreign_numbers || !self.sets.has_part(set);
        require(is_whole, "an address may have been joined from parts")
    }

    /// Whether a view has these targets from the program that it was derived from.
    fn is_inherited(&mut self, targets: &[Target]) -> bool {
        let (Some(base), view) = (self.base, self.program) else { return false };
        self.inherited.get_or_insert_with(|| Inherited::of(base, view)).has(view, targets)
    }

    /// A place of a set that is not among some targets, for people.
    fn not_listed(&mut self, set: Set, targets: &Arc<[Target]>) -> Option<String> {
        if !self.inside.insert((set, targets.as_ptr())) {
            return None;
        }
        self.lists.push(targets.clone());
        let mut listed: FxHashMap<ObjectId, Vec<Offsets>> = FxHashMap::default();
        for target in targets.iter() {
            let strides = [(i128::from(target.stride), Some(i128::from(target.count)))];
            let offsets = Offsets::new(target.first.into(), &strides);
            listed.entry(target.object).or_default().extend(offsets);
        }
        let is_listed = |object: ObjectId, offsets: &Offsets| {
            let others: Vec<&Offsets> = listed.get(&object).into_iter().flatten().collect();
            // Nothing is accessed just past an object.
            offsets.is_in(&others, self.sets.end(object) - 1)
        };
        let mut places = self.sets.places(set);
        let missing = places.find(|place| match place {
            Place::Anything => {
                self.sets.taken().into_iter().any(|object| !is_listed(object, &Offsets::all()))
            }
            Place::Bytes(object, offsets) => !is_listed(*object, offsets),
            Place::Procedure(_) | Place::Input(..) | Place::Part => false,
        });
        missing.map(|place| self.sets.describe(place))
    }
}

/// Numbers below this that are left open are no addresses.
const LEAST_ADDRESS: i128 = 1 << 31;

/// What a constraint keeps a local below.
fn upper_bounds(local: LocalId, constraint: &Expr) -> Vec<&Expr> {
    match constraint {
        Expr::Binary(BinaryOp::Le | BinaryOp::Lt, _, pair)
            if pair.0 == Expr::Local(local) && !pair.1.mentions(local) =>
        {
            vec![&pair.1]
        }
        Expr::Binary(BinaryOp::And, IntType::BOOL, pair) => {
            let mut bounds = upper_bounds(local, &pair.0);
            bounds.extend(upper_bounds(local, &pair.1));
            bounds
        }
        _ => Vec::new(),
    }
}

/// Whether an operation may show whether its operands are equal, neither of which is a constant: a
/// comparison, a difference, or an exclusive or. What a pointer moves by is not compared with it.
fn shows_equality(pointer: IntType, op: BinaryOp, ty: IntType, pair: &(Expr, Expr)) -> bool {
    let is_constant = |operand: &Expr| matches!(operand, Expr::Const(..));
    let is_move = PointerArithmetic::of(pointer, op, ty, pair) == Some(PointerArithmetic::Move);
    let shows = op.is_comparison() || matches!(op, BinaryOp::Sub | BinaryOp::Xor);
    shows && !is_move && !is_constant(&pair.0) && !is_constant(&pair.1)
}
