//! What the values of a program show of the numbers that addresses are.
//!
//! Flow-insensitive, one [`Shows`] for each local and each cell of memory, on top of points-to sets.
//! Over-approximates: a value of which nothing is said here is the same for all places that objects may have,
//! as long as nothing that [`super`] looks for has happened.
//!
//! The difference of two addresses in one object shows nothing. Two values are in one object if they were
//! computed, by adding to it, from one value (see [`Base`]), or if there is only one object that they may be
//! in.

use super::super::edges_in_cycles;
use super::super::points_to::{CellBytes, CopiedCells, Node, Pointee, PointsTo};
use super::reused::Reused;
use crate::expr::{BinaryOp, Expr, Place, PointerArithmetic};
use crate::ids::{IdVec, LocalId, ObjectId, TemplateId};
use crate::op::{Assignment, Callee, Lhs, Op, Rhs};
use crate::program::{Count, Initial, LocationKind, Program, Storage};
use crate::types::{IntType, Value};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;

/// The number of the set of bytes that accesses of some size at an address may touch.
type Touched = FxHashMap<(TemplateId, u64), FxHashMap<Expr, usize>>;
/// The cells that copies may copy between, by the addresses to and from, and the size if it is known.
type Copied = FxHashMap<(TemplateId, Option<u64>), FxHashMap<Expr, FxHashMap<Expr, Rc<CopiedCells>>>>;

/// Some bytes of cells that are accessed at once. Many addresses have the same, and they may be very many.
struct ByteSet {
    cells: Rc<[CellBytes]>,
    /// What each of them shows at least.
    all: Shows,
    /// What they show together, as of some change.
    any: Shows,
    change: u64,
}

/// The sets of bytes, each once.
#[derive(Default)]
struct ByteSets {
    sets: Vec<ByteSet>,
    numbers: FxHashMap<Rc<[CellBytes]>, usize>,
    touched: Touched,
}

/// What a value shows of the numbers that addresses are: a set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Shows(u8);

impl Shows {
    pub(super) const NOTHING: Self = Self(0);
    /// It is an address, up to a distance in the object.
    pub(super) const ADDRESS: Self = Self(1);
    /// It is the distance of two addresses, or an address in some disguise from which another number makes
    /// one.
    pub(super) const DISTANCE: Self = Self(2);
    /// It has some digits of an address, all of which together make one.
    pub(super) const PART: Self = Self(4);
    /// It was computed from the digits of an address.
    pub(super) const DIGITS: Self = Self(8);
    /// Besides: of an address that may be given out again, when its object is gone.
    pub(super) const OLD: Self = Self(16);
    /// Besides: it may be some number only where such an address is equal to another one.
    pub(super) const PAIRED: Self = Self(32);
    /// All of these.
    const EVERYTHING: Self = Self(63);

    pub(super) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
    pub(super) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
    /// Whether it shows more than which object it is in, and where there.
    pub(super) fn is_number(self) -> bool {
        self.without(Self::ADDRESS) != Self::NOTHING
    }
    /// What some digits of it show.
    fn cut(self) -> Self {
        if self.has(Self::ADDRESS.or(Self::DISTANCE)) {
            self.without(Self::ADDRESS.or(Self::DISTANCE)).or(Self::PART)
        } else {
            self
        }
    }
    /// What it shows in disguise.
    fn disguised(self) -> Self {
        if self == Self::NOTHING { self } else { self.without(Self::ADDRESS).or(Self::DISTANCE) }
    }
}

/// What a value was computed from, by additions and subtractions of numbers that show nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Base {
    /// Not (yet) from an address.
    None,
    /// From the address of an object, as the running activation names it.
    Object(ObjectId),
    /// From the value that a local of the running activation has got once.
    Value(LocalId),
    /// Several, or not known.
    Many,
}

impl Base {
    fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, other) | (other, Self::None) => other,
            (one, other) if one == other => one,
            _ => Self::Many,
        }
    }
}

/// What is known of all values of a program.
pub(super) struct Numbers<'p> {
    pub(super) program: &'p Program,
    pub(super) points_to: PointsTo,
    pointer: IntType,
    /// For each local and each cell; cells of many bytes without structure have one for each byte.
    shows: Vec<Vec<Shows>>,
    thread_results: Shows,
    bases: IdVec<TemplateId, IdVec<LocalId, Base>>,
    /// The locals that are set at most once in an activation.
    set_once: IdVec<TemplateId, IdVec<LocalId, bool>>,
    /// The objects that there is at most one of in the whole run.
    single: IdVec<ObjectId, bool>,
    /// Counts the changes.
    change: u64,
    /// The objects whose addresses may be given out again.
    pub(super) reused: Reused,
    /// What was looked up already.
    sets: RefCell<ByteSets>,
    copied: Copied,
}

impl<'p> Numbers<'p> {
    pub(super) fn of(program: &'p Program) -> Self {
        let points_to = PointsTo::of(program);
        let once = run_once(program, &points_to);
        let pointer = program.data_model.pointer();
        let mut numbers = Self {
            program,
            pointer,
            shows: points_to.lengths().into_iter().map(|length| nothing_shown(pointer, length)).collect(),
            thread_results: Shows::NOTHING,
            bases: program.templates.iter().map(first_bases).collect(),
            set_once: program.templates.iter().map(set_once).collect(),
            single: single_objects(program, &once),
            reused: Reused::of(program, &points_to, &once),
            points_to,
            change: 0,
            sets: RefCell::default(),
            copied: Copied::default(),
        };
        for (object, what) in program.objects.enumerate() {
            if let Initial::Values(values) = &what.initial {
                for (offset, ty, value) in values {
                    let mut is_address = false;
                    value.walk(&mut |inner| {
                        is_address |= matches!(inner, Expr::Address(..) | Expr::Procedure(_));
                    });
                    let shows = if is_address { Shows::ADDRESS } else { Shows::NOTHING };
                    numbers.write(&numbers.points_to.bytes_at(object, *offset, ty.bytes()), shows);
                }
            }
        }
        loop {
            let before = numbers.change;
            for (template, code) in program.templates.enumerate() {
                code.edges.iter().flat_map(|edge| &edge.ops).for_each(|op| numbers.follow(template, op));
                let exits = code.locations.iter().any(|location| location.kind == LocationKind::Exit);
                let results = code.result.into_iter().chain(code.exit_value.filter(|_| exits));
                let shows =
                    results.fold(Shows::NOTHING, |shows, local| shows.or(numbers.local(template, local)));
                // Whoever is started; procedures that are only called add nothing wrong.
                numbers.change += u64::from(numbers.thread_results.or(shows) != numbers.thread_results);
                numbers.thread_results = numbers.thread_results.or(shows);
            }
            if numbers.change == before {
                return numbers;
            }
        }
    }

    fn write(&mut self, cells: &[CellBytes], shows: Shows) {
        for cell in cells {
            let held = &mut self.shows[cell.node as usize];
            let range = range_of(held, cell);
            for byte in &mut held[range] {
                self.change += u64::from(byte.or(shows) != *byte);
                *byte = byte.or(shows);
            }
        }
    }
    fn read(&self, cells: &[CellBytes]) -> Shows {
        let bytes = cells.iter().flat_map(|cell| {
            let held = &self.shows[cell.node as usize];
            &held[range_of(held, cell)]
        });
        bytes.fold(Shows::NOTHING, |all, byte| all.or(*byte))
    }
    fn local(&self, template: TemplateId, local: LocalId) -> Shows {
        self.read(&[whole(self.points_to.local_node(template, local))])
    }
    fn set_local(&mut self, template: TemplateId, local: LocalId, shows: Shows, base: Base) {
        self.write(&[whole(self.points_to.local_node(template, local))], shows);
        let base = match base {
            Base::Many if self.set_once[template][local] => Base::Value(local),
            other => other,
        };
        let held = self.bases[template][local];
        let joined = held.join(base);
        self.change += u64::from(joined != held);
        self.bases[template][local] = joined;
    }
    fn set(&mut self, template: TemplateId, lhs: &Lhs, shows: Shows, base: Base) {
        match lhs {
            Lhs::Local(local) => self.set_local(template, *local, shows, base),
            Lhs::Memory(place) if shows != Shows::NOTHING => {
                let set = self.place_set(template, place);
                self.write_set(set, shows);
            }
            Lhs::Memory(_) => {}
        }
    }
    /// The number of the set of bytes that an access may touch.
    fn place_set(&self, template: TemplateId, place: &Place) -> usize {
        let size = place.ty.bytes();
        let known = |sets: &ByteSets| sets.touched.get(&(template, size))?.get(&place.address).copied();
        if let Some(known) = known(&self.sets.borrow()) {
            return known;
        }
        let cells = match place.as_cell() {
            Some((object, offset)) => self.points_to.bytes_at(object, offset, size),
            None => self.points_to.bytes(template, &place.address, size),
        };
        let ByteSets { sets, numbers, touched } = &mut *self.sets.borrow_mut();
        let cells: Rc<[CellBytes]> = cells.into();
        let number = *numbers.entry(cells.clone()).or_insert_with(|| {
            sets.push(ByteSet { cells, all: Shows::NOTHING, any: Shows::NOTHING, change: u64::MAX });
            sets.len() - 1
        });
        touched.entry((template, size)).or_default().insert(place.address.clone(), number);
        number
    }
    fn write_set(&mut self, set: usize, shows: Shows) {
        let cells = {
            let set = &mut self.sets.borrow_mut().sets[set];
            if set.all.or(shows) == set.all {
                return;
            }
            set.all = set.all.or(shows);
            set.cells.clone()
        };
        self.write(&cells, shows);
    }
    fn read_set(&self, set: usize) -> Shows {
        let set = &mut self.sets.borrow_mut().sets[set];
        if set.change != self.change && set.any != Shows::EVERYTHING {
            set.any = self.read(&set.cells);
            set.change = self.change;
        }
        set.any
    }
    fn copied_cells(
        &mut self,
        template: TemplateId,
        to: &Expr,
        from: &Expr,
        size: Option<u64>,
    ) -> Rc<CopiedCells> {
        let of_size = self.copied.entry((template, size)).or_default();
        if let Some(known) = of_size.get(to).and_then(|known| known.get(from)) {
            return known.clone();
        }
        let found = Rc::new(self.points_to.copied_cells(template, to, from, size));
        of_size.entry(to.clone()).or_default().insert(from.clone(), found.clone());
        found
    }

    fn assign(&mut self, template: TemplateId, assignment: &Assignment) {
        for (lhs, rhs) in &assignment.pairs {
            match rhs {
                Rhs::Value(value) => {
                    let (shows, base) = (self.shows(template, value), self.base(template, value));
                    self.set(template, lhs, shows, base);
                }
                // What is computed from an address is noted where it is computed.
                Rhs::Float(..) => self.set(template, lhs, Shows::NOTHING, Base::Many),
                // Any number at all: what it is compared with need not be looked at.
                Rhs::Any | Rhs::Unknown => self.set(template, lhs, Shows::NOTHING, Base::Many),
            }
        }
    }

    /// Lets the values of one operation flow.
    fn follow(&mut self, template: TemplateId, op: &Op) {
        match op {
            Op::Assume(_) | Op::Lock(..) | Op::Unlock(..) | Op::Free(_) => {}
            Op::Assign(assignment) => self.assign(template, assignment),
            Op::Spawn(callee, arguments, lhs) | Op::Call(callee, arguments, lhs) => {
                let given: Vec<Shows> =
                    arguments.iter().map(|argument| self.shows(template, argument)).collect();
                let mut result = Shows::NOTHING;
                for callee in callees(&self.points_to, template, callee) {
                    let code = &self.program.templates[callee];
                    for (local, shows) in code.locals.ids().take(code.parameters).zip(&given) {
                        self.write(&[whole(self.points_to.local_node(callee, local))], *shows);
                    }
                    let held = code.result.map(|local| self.local(callee, local));
                    result = result.or(held.unwrap_or_default());
                }
                if let Some(lhs) = lhs {
                    let result = if matches!(op, Op::Call(..)) { result } else { Shows::NOTHING };
                    self.set(template, lhs, result, Base::Many);
                }
            }
            Op::Join(_, lhs) => {
                if let Some(lhs) = lhs {
                    self.set(template, lhs, self.thread_results, Base::Many);
                }
            }
            Op::Allocate { result, .. } => self.set(template, result, Shows::ADDRESS, Base::Many),
            Op::Fill(to, byte, _) => {
                let shows = self.shows(template, byte);
                if shows != Shows::NOTHING {
                    self.write(&self.points_to.bytes(template, to, u64::MAX), shows);
                }
            }
            Op::Copy(to, from, size) => {
                let size = match size {
                    Expr::Const(size, _) => u64::try_from(*size).ok(),
                    _ => None,
                };
                let copied = self.copied_cells(template, to, from, size);
                for &(from, to, is_even) in &copied.pairs {
                    if is_even && self.shows[from as usize].len() == self.shows[to as usize].len() {
                        for (byte, shows) in self.shows[from as usize].clone().into_iter().enumerate() {
                            let byte = byte as u64;
                            self.write(&[CellBytes { node: to, from: byte, to: byte + 1 }], shows);
                        }
                    } else {
                        self.write(&[whole(to)], self.read(&[whole(from)]));
                    }
                }
                for (from, to) in &copied.all {
                    let all = from.iter().map(|cell| self.read(&[whole(*cell)]));
                    let all = all.fold(Shows::NOTHING, Shows::or);
                    if all != Shows::NOTHING {
                        to.iter().for_each(|cell| self.write(&[whole(*cell)], all));
                    }
                }
            }
            Op::Broadcast(broadcast) => {
                for (local, argument) in &broadcast.arguments {
                    let shows = self.shows(template, argument);
                    self.set_local(broadcast.to, *local, shows, Base::Many);
                }
                self.assign(broadcast.to, &broadcast.assignment);
            }
        }
    }

    /// What the value of an expression shows.
    pub(super) fn shows(&self, template: TemplateId, expr: &Expr) -> Shows {
        match expr {
            Expr::Const(..) | Expr::Myself | Expr::Overflows(..) | Expr::Valid(..) => Shows::NOTHING,
            Expr::Address(..) | Expr::Procedure(_) => Shows::ADDRESS,
            Expr::Local(local) => self.local(template, *local),
            Expr::Load(place) => {
                let held = self.read_set(self.place_set(template, place));
                let narrowed = self.narrowed(place.ty, held);
                // Whose bytes these are is not known.
                let is_cut = held.has(Shows::ADDRESS) && !narrowed.has(Shows::ADDRESS);
                if is_cut && self.reused.is_any() { narrowed.or(Shows::OLD) } else { narrowed }
            }
            Expr::Unary(_, IntType::BOOL, _) | Expr::Cast(IntType::BOOL, _) => Shows::NOTHING,
            Expr::Unary(_, _, operand) => {
                let shows = self.shows(template, operand);
                self.with_age(template, shows.disguised(), &[(operand, shows)], false)
            }
            Expr::Cast(ty, operand) => {
                let shows = self.shows(template, operand);
                self.with_age(template, self.narrowed(*ty, shows), &[(operand, shows)], false)
            }
            Expr::IfThenElse(three) => self.shows(template, &three.1).or(self.shows(template, &three.2)),
            Expr::Old(operand) => self.shows(template, operand),
            Expr::Binary(op, ty, pair) => {
                if op.is_comparison() || *ty == IntType::BOOL {
                    return Shows::NOTHING;
                }
                let (left, right) = (self.shows(template, &pair.0), self.shows(template, &pair.1));
                if left == Shows::NOTHING && right == Shows::NOTHING {
                    return Shows::NOTHING;
                }
                let arithmetic = PointerArithmetic::of(self.pointer, *op, *ty, pair);
                if arithmetic == Some(PointerArithmetic::Difference)
                    && !left.or(right).is_number()
                    && self.have_one_target(template, &pair.0, &pair.1)
                {
                    return Shows::NOTHING;
                }
                let shows = self.of_operation(template, *op, pair, left, right);
                // Bits side by side show nothing that they do not show alone.
                let are_joined = *op == BinaryOp::Or;
                self.with_age(template, shows, &[(&pair.0, left), (&pair.1, right)], !are_joined)
            }
        }
    }
    /// Says of a number that was computed from these operands whether it is one of an old address.
    /// `is_comparable`: and whether two of them may be compared by it.
    fn with_age(
        &self,
        template: TemplateId,
        shows: Shows,
        operands: &[(&Expr, Shows)],
        is_comparable: bool,
    ) -> Shows {
        if !shows.is_number() {
            return shows;
        }
        let is_old = |(operand, shows): &(&Expr, Shows)| {
            let is_reused = |pointee: &Pointee| match pointee {
                Pointee::Cell(object, _) => self.reused.has(*object),
                Pointee::Anything => self.reused.is_any(),
                Pointee::Procedure(_) | Pointee::Input(_) | Pointee::Part => false,
            };
            shows.has(Shows::OLD)
                || shows.has(Shows::ADDRESS)
                    && self.points_to.pointees(template, operand).iter().any(is_reused)
        };
        let is_paired = operands.iter().any(|(_, shows)| shows.has(Shows::PAIRED));
        let are_all = is_comparable && operands.iter().all(|(_, shows)| *shows != Shows::NOTHING);
        match operands.iter().any(is_old) {
            true if are_all || is_paired => shows.or(Shows::OLD).or(Shows::PAIRED),
            true => shows.or(Shows::OLD),
            false => shows,
        }
    }
    fn narrowed(&self, ty: IntType, shows: Shows) -> Shows {
        if ty.bits < self.pointer.bits { shows.cut() } else { shows }
    }

    fn of_operation(
        &self,
        template: TemplateId,
        op: BinaryOp,
        pair: &(Expr, Expr),
        left: Shows,
        right: Shows,
    ) -> Shows {
        let both = left.or(right);
        // Digits that are added to an address are no address's any more.
        let digits = Shows::PART.or(Shows::DIGITS);
        let spoils = |one: Shows, other: Shows| one.has(Shows::ADDRESS) && other.has(digits);
        let sum = if spoils(left, right) || spoils(right, left) { both.or(Shows::DIGITS) } else { both };
        let constant = match pair {
            (_, Expr::Const(value, _)) => Some((&pair.0, left, *value)),
            (Expr::Const(value, _), _) => Some((&pair.1, right, *value)),
            _ => None,
        };
        match op {
            BinaryOp::Add if left.has(Shows::ADDRESS) && right.has(Shows::ADDRESS) => sum.disguised(),
            BinaryOp::Add => sum,
            BinaryOp::Sub if right.has(Shows::ADDRESS) => {
                let is_plain = left == Shows::ADDRESS && right == Shows::ADDRESS;
                if is_plain && self.in_one_object(template, &pair.0, &pair.1) {
                    Shows::NOTHING
                } else {
                    sum.disguised()
                }
            }
            BinaryOp::Sub => sum,
            BinaryOp::And => match constant {
                Some((operand, Shows::ADDRESS, mask)) => {
                    let mask = self.pointer.unsigned().wrap(mask);
                    let rest = self.pointer.unsigned().max() - mask;
                    if self.is_aligned(template, operand, mask) {
                        Shows::NOTHING
                    } else if self.is_aligned(template, operand, rest) {
                        Shows::ADDRESS
                    } else {
                        Shows::DIGITS
                    }
                }
                _ => Shows::DIGITS,
            },
            BinaryOp::Or | BinaryOp::Xor => match constant {
                Some((operand, Shows::ADDRESS, bits)) if self.is_aligned(template, operand, bits) => {
                    Shows::ADDRESS
                }
                _ if op == BinaryOp::Xor => sum.disguised(),
                _ => sum.cut(),
            },
            BinaryOp::Shl | BinaryOp::Shr if right == Shows::NOTHING => left.cut(),
            BinaryOp::Shl | BinaryOp::Shr | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => Shows::DIGITS,
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le => Shows::NOTHING,
        }
    }

    /// Whether the alignment of objects leaves these low bits of an address to the distance in its object.
    fn is_aligned(&self, template: TemplateId, address: &Expr, bits: Value) -> bool {
        let pointees = self.points_to.pointees(template, address);
        pointees.iter().all(|pointee| match pointee {
            Pointee::Cell(object, _) => (0..Value::from(self.program.objects[*object].align)).contains(&bits),
            Pointee::Procedure(_) | Pointee::Input(_) | Pointee::Part | Pointee::Anything => false,
        })
    }

    /// What a value was computed from.
    pub(super) fn base(&self, template: TemplateId, expr: &Expr) -> Base {
        match expr {
            Expr::Const(..) | Expr::Myself | Expr::Overflows(..) | Expr::Valid(..) => Base::None,
            Expr::Address(object, _) => Base::Object(*object),
            Expr::Local(local) => self.bases[template][*local],
            Expr::Cast(ty, operand) if ty.bits >= self.pointer.bits => self.base(template, operand),
            Expr::IfThenElse(three) => self.base(template, &three.1).join(self.base(template, &three.2)),
            Expr::Old(operand) => self.base(template, operand),
            Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), _, pair) => {
                let (left, right) = (self.shows(template, &pair.0), self.shows(template, &pair.1));
                match (left, right) {
                    (Shows::NOTHING, Shows::NOTHING) => Base::None,
                    (_, Shows::NOTHING) => self.base(template, &pair.0),
                    (Shows::NOTHING, _) if *op == BinaryOp::Add => self.base(template, &pair.1),
                    _ => Base::Many,
                }
            }
            Expr::Load(_) | Expr::Procedure(_) | Expr::Unary(..) | Expr::Cast(..) | Expr::Binary(..) => {
                if self.shows(template, expr) == Shows::NOTHING {
                    Base::None
                } else {
                    Base::Many
                }
            }
        }
    }

    /// Whether two addresses are in objects that points-to sets know as one, such as those of one
    /// allocation site, and none is in the place of another one that is gone.
    fn have_one_target(&self, template: TemplateId, one: &Expr, other: &Expr) -> bool {
        let mut found = None;
        let pointees = [one, other].map(|address| self.points_to.pointees(template, address));
        let is_one = pointees.iter().flatten().all(|pointee| match pointee {
            Pointee::Cell(object, _) => *found.get_or_insert(*object) == *object,
            Pointee::Procedure(_) | Pointee::Input(_) | Pointee::Part | Pointee::Anything => false,
        });
        let is_reused = found.is_some_and(|object| self.reused.has(object));
        is_one && (!is_reused || self.in_one_object(template, one, other))
    }

    /// Whether two addresses are in the same object.
    pub(super) fn in_one_object(&self, template: TemplateId, one: &Expr, other: &Expr) -> bool {
        let base = self.base(template, one);
        if base == self.base(template, other) && matches!(base, Base::Object(_) | Base::Value(_)) {
            return true;
        }
        let mut found = None;
        let pointees = [one, other].map(|address| self.points_to.pointees(template, address));
        pointees.iter().flatten().all(|pointee| match pointee {
            Pointee::Cell(object, _) => self.single[*object] && *found.get_or_insert(*object) == *object,
            Pointee::Procedure(_) | Pointee::Input(_) | Pointee::Part | Pointee::Anything => false,
        })
    }
}

/// Cells of more bytes than this are one whole, and so are those of no more than a pointer.
const MOST_BYTES: u64 = 512;

fn nothing_shown(pointer: IntType, length: u64) -> Vec<Shows> {
    let is_many = length > pointer.bytes() && length <= MOST_BYTES;
    let bytes = if is_many { length as usize } else { 1 };
    vec![Shows::NOTHING; bytes]
}

/// All of a cell.
fn whole(node: Node) -> CellBytes {
    CellBytes { node, from: 0, to: u64::MAX }
}

/// What is kept of some bytes of a cell.
fn range_of(held: &[Shows], cell: &CellBytes) -> std::ops::Range<usize> {
    let last = held.len() as u64;
    if last <= 1 {
        return 0..held.len();
    }
    cell.from.min(last) as usize..cell.to.min(last) as usize
}

/// Parameters have what they were given.
fn first_bases(code: &crate::Template) -> IdVec<LocalId, Base> {
    let parameters = code.parameters;
    let first = |local: LocalId| {
        if (local.0 as usize) < parameters { Base::Value(local) } else { Base::None }
    };
    code.locals.ids().map(first).collect()
}

/// The locals that an activation sets at most once, parameters among them when nothing else sets them.
fn set_once(code: &crate::Template) -> IdVec<LocalId, bool> {
    let in_cycle = edges_in_cycles(code);
    let mut times: IdVec<LocalId, u32> =
        code.locals.ids().map(|local| u32::from((local.0 as usize) < code.parameters)).collect();
    for (id, edge) in code.edges.enumerate() {
        for lhs in edge.ops.iter().flat_map(Op::targets) {
            if let Lhs::Local(local) = lhs {
                times[*local] += if in_cycle[id] { 2 } else { 1 };
            }
        }
    }
    times.iter().map(|times| *times <= 1).collect()
}

/// The procedures that a callee may be.
pub(super) fn callees(points_to: &PointsTo, template: TemplateId, callee: &Callee) -> Vec<TemplateId> {
    match callee {
        Callee::Procedure(callee) => vec![*callee],
        Callee::Pointer(pointer) => points_to.callees(template, pointer),
    }
}

/// The templates that run once: started once, and neither started again nor called.
pub(super) fn run_once(program: &Program, points_to: &PointsTo) -> IdVec<TemplateId, bool> {
    let mut once: IdVec<TemplateId, bool> = program.templates.iter().map(|_| false).collect();
    for (template, count) in &program.start {
        let times = program.start.iter().filter(|(other, _)| other == template).count();
        once[*template] = *count == Count::Exactly(1) && times == 1;
    }
    for (id, code) in program.templates.enumerate() {
        for op in code.edges.iter().flat_map(|edge| &edge.ops) {
            if let Op::Call(callee, ..) | Op::Spawn(callee, ..) = op {
                callees(points_to, id, callee).into_iter().for_each(|callee| once[callee] = false);
            }
        }
    }
    once
}

/// The templates that may run: those that the program starts with, and what these call and start.
pub(super) fn reached(program: &Program, points_to: &PointsTo) -> IdVec<TemplateId, bool> {
    let mut reached: IdVec<TemplateId, bool> = program.templates.iter().map(|_| false).collect();
    let mut open: Vec<TemplateId> = program.start.iter().map(|(template, _)| *template).collect();
    while let Some(id) = open.pop() {
        if !std::mem::replace(&mut reached[id], true) {
            for op in program.templates[id].edges.iter().flat_map(|edge| &edge.ops) {
                if let Op::Call(callee, ..) | Op::Spawn(callee, ..) = op {
                    open.extend(callees(points_to, id, callee));
                }
            }
        }
    }
    reached
}

/// The objects that there is at most one of in the whole run.
fn single_objects(program: &Program, once: &IdVec<TemplateId, bool>) -> IdVec<ObjectId, bool> {
    let mut allocations: IdVec<ObjectId, u32> = program.objects.iter().map(|_| 0).collect();
    for (id, code) in program.templates.enumerate() {
        let in_cycle = edges_in_cycles(code);
        for (edge_id, edge) in code.edges.enumerate() {
            for op in &edge.ops {
                if let Op::Allocate { site, .. } = op {
                    allocations[*site] += if once[id] && !in_cycle[edge_id] { 1 } else { 2 };
                }
            }
        }
    }
    let single = |(id, object): (ObjectId, &crate::Object)| match object.storage {
        Storage::Static => true,
        Storage::Frame(template) => once[template],
        Storage::ThreadLocal => false,
        Storage::Site => allocations[id] <= 1,
    };
    program.objects.enumerate().map(single).collect()
}
