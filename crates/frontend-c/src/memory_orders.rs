//! Memory orders: behaviour that C11 allows beyond interleavings, modelled as open values of reads.
//!
//! A program whose atomic operations are all sequentially consistent and that has no data race behaves as if
//! its steps were interleaved (C11 5.1.2.4, 7.17.3). Weaker orders allow more: reads may return stale values
//! or values that are written later, and an operation that does not synchronise orders no other access, so
//! data that it publishes may race. This pass adds both to the program, by reads whose value is left open
//! ([`ir::Rhs::Unknown`]): one branch gives the value of the interleaving, the other any value. A proof about
//! that program holds for every execution of C11:
//!
//! * Take an execution of C11 without a data race, or the prefix up to its first race. Ignore which write
//!   each open read got its value from. There remain plain accesses, ordered by happens-before; locks, starts
//!   and ends of threads; and operations on cells whose reads are not open. If all operations on these cells
//!   are sequentially consistent, there is one total order of them that is consistent with happens-before. So
//!   the whole execution can be linearised, and the result is an execution of the transformed program. For
//!   two plain accesses that race, the part of the execution that happens before either of them can be
//!   linearised; then both are next.
//! * Cells on which only the first thread performs atomic operations impose no order and need none.
//! * If there is only one other cell with atomic operations in the whole program, its reads need not be open:
//!   by coherence (C11 5.1.2.4 p15 to p18), all its operations have one total order that is consistent with
//!   happens-before. But a read synchronises only if it acquires and its value was released. So at any time,
//!   such a read may also give each value that some operation stores without releasing it; if one of these is
//!   not constant, or the read does not acquire, it may give any value.
//! * If, in addition, threads other than the first use no memory but that cell (and locks, without attempts
//!   that may fail), there is no data race, and the whole execution is linearised, by the total order of the
//!   cell's operations together with happens-before. So reads are not open.
//!
//! A violation through an open value is no evidence, so such a program is neither proved nor refuted by it.
//! One that needs no open value is an execution of C11: interleavings are allowed.
//!
//! Direction: over-approximates. Fences are ignored, which only removes order.

use crate::Options;
use crate::function::Function;
use crate::handles;
use crate::library::Argument;
use crate::link::Links;
use crate::lowering;
use crate::parse::Unit;
use ir::ids::Id;
use ir::passes::allocators::CallUses;
use ir::passes::lower::select_marked;
use ir::{
    Assignment, Assumption, BinaryOp, Expr, IntType, Lhs, LocalId, LocationId, ObjectId, Op, Place, Program,
    Range, Rhs, Span, Storage, TemplateId, Value, Waiting,
};
use std::collections::{BTreeMap, BTreeSet};

/// The meaning of atomic operations with an order weaker than `memory_order_seq_cst`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MemoryModel {
    /// That of C11, as far as it is modelled; otherwise the verdict is `unknown`.
    #[default]
    C11,
    /// The same as sequentially consistent operations.
    SequentiallyConsistent,
}

/// The order of a read or of a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Order {
    /// Whether a read with it acquires.
    acquires: bool,
    /// Whether a write with it releases.
    releases: bool,
    is_sequential: bool,
    /// Whether it may acquire or release, where that is not known or only partly so.
    may_order: bool,
}

impl Order {
    /// Sequentially consistent.
    pub const SEQUENTIAL: Self =
        Self { acquires: true, releases: true, is_sequential: true, may_order: false };
    /// The order with a number of `<stdatomic.h>`. One that is not known is the weakest.
    /// `memory_order_consume` orders too little to count as acquiring.
    pub fn numbered(number: Option<Value>) -> Self {
        let may_order = !matches!(number, Some(0 | 2..=5));
        let order = |acquires, releases| Self { acquires, releases, is_sequential: false, may_order };
        match number {
            Some(5) => Self::SEQUENTIAL,
            Some(4) => order(true, true),
            Some(3) => order(false, true),
            Some(2) => order(true, false),
            _ => order(false, false),
        }
    }
}

/// The orders that `__threadproof_order` and `__threadproof_orders` give the next operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Orders {
    /// Whether the exchange may fail spuriously.
    pub weak: bool,
    /// The order.
    pub success: Order,
    /// The order of an exchange that fails.
    pub failure: Order,
}

impl Orders {
    /// One order, whatever happens.
    pub fn same(order: Order) -> Self {
        Self { weak: false, success: order, failure: order }
    }
}

/// A cell of a static object, if it is known.
type Cell = Option<(ObjectId, u64)>;

/// The operations on a cell.
#[derive(Clone, Default, Debug)]
struct Uses {
    /// The first operation with an order weaker than sequentially consistent.
    weak: Option<Span>,
    /// The values that are stored without a release; `None` when one is not constant.
    unreleased: Vec<Option<Value>>,
    /// Whether a read may acquire.
    may_acquire: bool,
    /// Whether a write may release.
    may_release: bool,
    /// The bytes of the cell.
    size: u64,
    /// The code that performs them.
    templates: BTreeSet<TemplateId>,
}

/// What a read of a cell may give.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Reads {
    /// What an interleaving gives.
    Exact,
    /// That value, or one of these if the read acquires; otherwise any value.
    Also(Vec<Value>),
    /// Anything.
    Any,
}

/// The atomic operations of a program, and what their reads may give.
#[derive(Clone, Default, Debug)]
pub struct Atomics {
    uses: BTreeMap<Cell, Uses>,
    /// Whether a fence may turn an earlier read into an acquire.
    may_acquire: bool,
    /// Whether a fence may turn a later write into a release.
    may_release: bool,
    reads: Option<BTreeMap<Cell, Reads>>,
    /// Whether other threads than the first use no memory but atomic cells.
    is_apart: bool,
}

impl Atomics {
    fn note(
        &mut self,
        (template, cell): (TemplateId, Cell),
        order: Order,
        size: u64,
        span: Span,
    ) -> &mut Uses {
        let uses = self.uses.entry(cell).or_default();
        uses.size = uses.size.max(size);
        uses.templates.insert(template);
        if !order.is_sequential {
            uses.weak.get_or_insert(span);
        }
        uses
    }
    /// Records a read.
    fn read(&mut self, cell: (TemplateId, Cell), order: Order, size: u64, span: Span) {
        self.note(cell, order, size, span).may_acquire |= order.acquires || order.may_order;
    }
    /// Records a write, with its constant value if known.
    fn write(&mut self, cell: (TemplateId, Cell), order: Order, size: u64, value: Option<Value>, span: Span) {
        let uses = self.note(cell, order, size, span);
        uses.may_release |= order.releases || order.may_order;
        if !order.releases {
            uses.unreleased.push(value);
        }
    }
    /// Records an operation that may order accesses around it.
    pub fn fence(&mut self) {
        self.fence_with(Order::SEQUENTIAL);
    }
    /// Records a thread fence with an order.
    pub fn fence_with(&mut self, order: Order) {
        self.may_acquire |= order.acquires || order.may_order;
        self.may_release |= order.releases || order.may_order;
    }
    /// The cells whose accesses impose no order. For an order, a write must release, or come after a fence
    /// that does, and a read of the same cell must acquire, or come before a fence that does (C11 7.17.4).
    fn unordered(&self) -> Vec<Range> {
        if self.uses.contains_key(&None) {
            return Vec::new();
        }
        let acquires = |uses: &Uses| uses.may_acquire || self.may_acquire;
        let orders = |uses: &Uses| acquires(uses) && (uses.may_release || self.may_release);
        let cells = self.uses.iter().filter(|(_, uses)| !orders(uses));
        cells
            .filter_map(|(cell, uses)| cell.map(|(object, offset)| Range { object, offset, size: uses.size }))
            .collect()
    }
    /// Drops the cells on which only the first thread performs operations: there is nothing to order.
    fn keep_shared(&mut self, run_by_threads: &BTreeSet<usize>) {
        let is_run = |template: &TemplateId| run_by_threads.contains(&template.index());
        if !self.uses.values().flat_map(|uses| &uses.templates).any(is_run) {
            return self.uses.clear();
        }
        self.uses.retain(|cell, uses| cell.is_none() || uses.templates.iter().any(is_run));
    }
    /// The position of the first operation with a weaker order, if any.
    fn weakest(&self) -> Option<Span> {
        self.uses.values().filter_map(|uses| uses.weak).min()
    }
    /// Decides what reads may give, once all operations are known.
    fn decide(self) -> Self {
        // An operation on a cell that is not known may be on any.
        let everywhere = self.uses.contains_key(&None);
        let is_only = self.uses.len() == 1 && !everywhere;
        let any_weak = self.weakest().is_some();
        let reads = self.uses.iter().map(|(cell, uses)| {
            let reads = if everywhere && any_weak || uses.weak.is_some() && !is_only {
                Reads::Any
            } else if uses.weak.is_none() || self.is_apart {
                Reads::Exact
            } else {
                uses.unreleased.iter().copied().collect::<Option<Vec<_>>>().map_or(Reads::Any, Reads::Also)
            };
            (*cell, reads)
        });
        Self { reads: Some(reads.collect()), ..Self::default() }
    }
}

/// Lowers linked files under a memory model; also says what the results of calls are used as.
pub fn lower(units: &[Unit], links: &Links, options: &Options) -> (Program, CallUses) {
    let lower = |atomics| {
        lowering::lower(units, links, options.data_model, None, atomics, options.outside(), &options.draft)
    };
    let mut first = lower(Atomics::default());
    let run_by_threads = handles::run_by_threads(&first.program);
    first.atomics.keep_shared(&run_by_threads);
    first.atomics.is_apart = use_own_memory(&first.program, &run_by_threads);
    if options.memory_model == MemoryModel::SequentiallyConsistent {
        order_attempts(&mut first.program);
    }
    let uses = first.call_uses;
    let Some(span) = first.atomics.weakest() else { return (first.program, uses) };
    let (mut program, text) = match options.memory_model {
        MemoryModel::C11 => {
            let unordered = first.atomics.unordered();
            let text = "memory order: weaker than sequentially consistent; what C11 lets be read is over-approximated";
            let program = lower(first.atomics.decide()).program;
            (Program { unordered, ..program }, text)
        }
        MemoryModel::SequentiallyConsistent => {
            (first.program, "memory order: taken to be sequentially consistent, as --memory-model says")
        }
    };
    program.assumptions.push(Assumption { text: text.to_owned(), span, limits_proof: false });
    (program, uses)
}

/// Whether the code that threads other than the first run uses no memory plainly, but for variables of the
/// headers, whose addresses stay there, and nobody learns that a lock is held from an attempt that fails:
/// such an attempt orders nothing.
fn use_own_memory(program: &Program, run_by_threads: &BTreeSet<usize>) -> bool {
    let mut locations = program.templates.iter().flat_map(|code| &code.locations);
    if locations.any(|location| location.waiting == Waiting::Racing) {
        return false;
    }
    let is_own = |place: &Place| match &place.address {
        Expr::Address(object, _) => {
            let object = &program.objects[*object];
            object.name.starts_with("__rucc_") && matches!(object.storage, Storage::Frame(_))
        }
        _ => false,
    };
    let may_use = |place: &Place| place.atomic || is_own(place);
    let code = program.templates.enumerate().filter(|(id, _)| run_by_threads.contains(&id.index()));
    code.flat_map(|(_, code)| &code.edges).flat_map(|edge| &edge.ops).all(|op| {
        let mut uses_own = !matches!(op, Op::Fill(..) | Op::Copy(..) | Op::Free(_) | Op::Broadcast(_));
        for target in op.targets() {
            uses_own &= match target {
                Lhs::Memory(place) => may_use(place),
                Lhs::Local(_) => true,
            };
        }
        for expr in op.expressions() {
            expr.walk(&mut |inner| {
                uses_own &= match inner {
                    Expr::Load(place) => may_use(place),
                    _ => true,
                };
            });
        }
        uses_own
    })
}

/// Removes races that exist only in C11: failed attempts at synchronisation then order accesses, and
/// destroying a synchronisation object is no access to it.
fn order_attempts(program: &mut Program) {
    let mut edges = program.templates.iter().flat_map(|code| code.edges.iter().map(move |edge| (code, edge)));
    let racing = edges.find(|(code, edge)| code.locations[edge.target].waiting == Waiting::Racing);
    let Some(span) = racing.map(|(_, edge)| edge.span) else { return };
    select_marked(program, Waiting::Racing, false);
    let text = "attempts at synchronisation that fail are taken to order accesses, and destroying a lock to be no access, as --memory-model says";
    program.assumptions.push(Assumption { text: text.to_owned(), span, limits_proof: false });
}

impl Function<'_, '_> {
    /// The cell of a static object that an address names, also by a local that is only ever set to it.
    fn cell_at(&self, address: &Expr) -> Cell {
        let is_static = |object: ObjectId| self.global.program.objects[object].storage == Storage::Static;
        match address {
            Expr::Address(object, offset) if is_static(*object) => Some((*object, *offset)),
            Expr::Local(local) => self.cell_of_local(*local),
            Expr::Cast(_, inner) => self.cell_at(inner),
            _ => None,
        }
    }
    fn cell_of_local(&self, local: LocalId) -> Cell {
        // Variables of the headers and our own temporaries are set once, before they are used.
        let name = &self.builder.template.locals[local].name;
        self.cell_at(self.only_value(&Lhs::Local(local)).filter(|_| ir::names::is_made_up(name))?)
    }
    /// The value that all assignments so far give to this left-hand side.
    fn only_value(&self, lhs: &Lhs) -> Option<&Expr> {
        let mut found = None;
        for op in self.builder.template.edges.iter().flat_map(|edge| &edge.ops) {
            if !op.targets().contains(&lhs) {
                continue;
            }
            let Op::Assign(Assignment { pairs, constraint: None }) = op else { return None };
            let [(_, Rhs::Value(value))] = pairs.as_slice() else { return None };
            if found.is_some_and(|found| found != value) {
                return None;
            }
            found = Some(value);
        }
        found
    }
    /// The constant value of an expression, also through variables of `<stdatomic.h>`.
    fn always_constant(&self, value: &Expr) -> Option<Value> {
        match value {
            Expr::Const(value, _) => Some(*value),
            Expr::Local(local) if self.builder.template.locals[*local].name.starts_with('%') => {
                self.always_constant(self.only_value(&Lhs::Local(*local))?)
            }
            Expr::Load(place) => {
                let (object, _) = place.as_cell()?;
                let is_own = self.global.program.objects[object].name.starts_with("__rucc_");
                self.always_constant(self.only_value(&Lhs::Memory((**place).clone())).filter(|_| is_own)?)
            }
            _ => None,
        }
    }
    /// Notes a write to an atomic cell.
    pub fn atomic_write(&mut self, address: &Expr, order: Order, value: Option<&Expr>) {
        let constant = value.and_then(|value| self.always_constant(value));
        let size = value.map_or(0, |value| self.type_of(value).bytes());
        let (cell, span) = ((self.template, self.cell_at(address)), self.builder.span);
        self.global.atomics.write(cell, order, size, constant, span);
    }
    fn note_read(&mut self, address: &Expr, order: Order, size: u64) {
        let (cell, span) = ((self.template, self.cell_at(address)), self.builder.span);
        self.global.atomics.read(cell, order, size, span);
    }
    /// Notes an operation that reads and writes an atomic cell.
    pub fn atomic_read_write(&mut self, address: &Expr, order: Order, value: &Expr) {
        self.note_read(address, order, 0);
        self.atomic_write(address, order, Some(value));
    }
    /// Whether reads of a cell may give values that no interleaving gives.
    pub fn is_open(&self, address: &Expr) -> bool {
        let Some(reads) = &self.global.atomics.reads else { return false };
        reads.get(&self.cell_at(address)).is_some_and(|reads| *reads != Reads::Exact)
    }
    /// The operation that replaces the value read from a cell, in a local, by any other possible value;
    /// `None` when there is no other.
    fn opens(&self, address: &Expr, order: Order, local: LocalId) -> Option<Op> {
        let reads = self.global.atomics.reads.as_ref()?;
        let ty = self.builder.template.locals[local].ty;
        let is_one_of = |values: &[Value]| {
            let equal =
                |value: &Value| Expr::binary(BinaryOp::Eq, ty, Expr::Local(local), Expr::int(*value, ty));
            let or = |one: Expr, other: Expr| Expr::binary(BinaryOp::Or, IntType::BOOL, one, other);
            values.iter().map(equal).reduce(or)
        };
        let constraint = match reads.get(&self.cell_at(address)) {
            // What is not known there is not shared.
            Some(Reads::Exact) | None => return None,
            Some(Reads::Also(values)) if order.acquires => Some(is_one_of(values)?),
            Some(Reads::Also(_) | Reads::Any) => None,
        };
        Some(Op::Assign(Assignment { pairs: vec![(Lhs::Local(local), Rhs::Unknown)], constraint }))
    }
    /// Records a read of an atomic cell, whose value is in a local; leaves the value open as far as C11 does.
    pub fn atomic_read(&mut self, address: &Expr, order: Order, local: LocalId) {
        let size = self.builder.template.locals[local].ty.bytes();
        self.note_read(address, order, size);
        if let Some(op) = self.opens(address, order, local) {
            let next = self.builder.label();
            self.builder.alternative(op, next);
            self.builder.jump(next);
            self.builder.continue_at(next);
        }
    }
    /// The same for an exchange that fails with the found value: jumps to a label.
    pub fn fail_openly(&mut self, address: &Expr, order: Order, local: LocalId, failed: LocationId) {
        self.note_read(address, order, 0);
        if let Some(op) = self.opens(address, order, local) {
            let next = self.label();
            self.jump_by(no_evidence(op, local), failed);
            self.jump(next);
            self.join(next);
        }
    }
    /// Applies `__threadproof_order` or `__threadproof_orders` to the next operation.
    pub fn say_order(&mut self, arguments: &[Argument]) {
        let orders = match arguments {
            [weak, success, failure] => Orders {
                weak: weak.constant != Some(0),
                success: Order::numbered(success.constant),
                failure: Order::numbered(failure.constant),
            },
            _ => Orders::same(Order::numbered(arguments.first().and_then(|order| order.constant))),
        };
        self.said_orders.push(orders);
    }
    /// `atomic_fetch_add` and `atomic_fetch_sub` of `<stdatomic.h>` move a pointer by elements; the builtins
    /// of compilers move it by bytes.
    pub fn check_generic_update(&mut self, arguments: &[Argument]) {
        let pointee = arguments.first().and_then(|argument| argument.pointee.as_ref());
        if pointee.is_some_and(|pointee| pointee.is_pointer) {
            self.unsupported(
                "atomic_fetch_add or atomic_fetch_sub on a pointer: C11 counts elements, gcc bytes",
            );
        }
    }
    /// A library function that is an atomic operation: not known where, and its order is in its last
    /// arguments.
    pub fn library_order(&mut self, name: &str, arguments: &[Argument]) {
        if !name.starts_with("atomic_") && !name.starts_with("__c11_atomic_") {
            return;
        }
        let is_explicit = name.ends_with("_explicit") || name.starts_with("__c11_atomic_");
        let orders = if !is_explicit || name.ends_with("init") {
            0
        } else if name.contains("compare_exchange") {
            2
        } else {
            1
        };
        let last = arguments.iter().rev().take(orders);
        let is_weak = last.into_iter().any(|argument| argument.constant != Some(5));
        let (order, span) = (Order::numbered(if is_weak { None } else { Some(5) }), self.builder.span);
        self.global.atomics.write((self.template, None), order, 0, None, span);
    }
}

/// The same, marked as something that need not happen (see [`ir::Rhs::Unknown`]): a value that is used by no
/// one decides here.
fn no_evidence(op: Op, local: LocalId) -> Op {
    match op {
        Op::Assign(Assignment { pairs, constraint: None }) => {
            let same = Expr::Binary(
                BinaryOp::Eq,
                IntType::BOOL,
                Box::new((
                    Expr::cast(IntType::BOOL, Expr::Local(local)),
                    Expr::cast(IntType::BOOL, Expr::Local(local)),
                )),
            );
            Op::Assign(Assignment { pairs, constraint: Some(same) })
        }
        op => op,
    }
}
