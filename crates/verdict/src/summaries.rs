//! The proof of the `summaries` engine: what holds at each location of each procedure, in each context that
//! it runs in.
//!
//! It speaks of the task's own program: calls stay calls, and nothing is inlined, sliced or renumbered.
//! Facts are about one thread at one location; no relation between pairs of locations is stored. Two
//! accesses are compared only where they may touch the same byte. All in it are claims that the checker
//! tests one edge at a time, so that checking is linear in the proof but for those comparisons.
//!
//! # What the claims mean
//!
//! A *kind* of thread is the template that a thread starts in. A thread *is at* (context, location) when
//! its innermost activation is of the context's template, is in that context, and is at that location.
//!
//! * [`SummariesProof::once`]: at most one activation of the template ever exists in a whole run, be it
//!   called or started as a thread. So at most one thread of a kind in `once` ever exists.
//! * [`SummariesProof::private`]: objects of threads (frame objects, thread-local and allocated ones) that
//!   only the thread touches that the activation, variable or allocation belongs to. Either no static object,
//!   argument of a start or result of a thread leads to it, by points-to sets; or its address, followed from
//!   variable to variable, stays in locals of its thread and in objects that do so themselves. What a
//!   procedure gives back of its arguments goes to the caller that passed it. In both cases nobody accesses
//!   memory at a guess (an input, or a value that is not modelled) that may equal its address: a guess that
//!   is compared, computed with, or a distance that a pointer moves by is none.
//! * [`SummariesProof::handles`]: cells of memory that there is one of. Whatever is ever stored there is
//!   the id of the only thread of a kind.
//! * [`ProcedureContext::facts`]: what holds whenever a thread is at a location in that context. `None`: no
//!   thread ever is.
//! * [`ProcedureContext::releases`]: where locks may be that the thread itself may give back, or whose
//!   words it may change other than by taking them, before an activation in this context returns. Only
//!   bytes count at which some step of the program may take a lock.
//!
//! * [`ProcedureContext::starts`] and [`ProcedureContext::stores`]: the kinds of which the thread itself
//!   may start a thread, and where it may write bytes that ids of threads are stored in, before an
//!   activation in this context returns.
//! * [`SummariesProof::distinct`]: no two threads of the kind that are alive at the same time were started
//!   with arguments that are less than so many bytes apart, in either direction, modulo 2 to the width of a
//!   pointer.
//! * [`SummariesProof::cells`]: variables in memory. They count as further locals of each procedure, after
//!   its own ones: local number L + n of a procedure with L locals is what `cells[n]` holds now. Only
//!   `order`, `placed` and `started` speak of them.
//! * [`SummariesProof::alone`]: at most one thread of the kind is alive at any time.
//! * [`SummariesProof::teams`]: the *team* of a thread, for a kind H of *helpers*, is the thread itself, or
//!   that of the thread that started it if it is of kind H. Threads of kind H start none of kind H: so a
//!   team is one thread of another kind and the helpers that this one started itself; helpers that the
//!   program starts with are teams of their own. The objects of a team (frame objects, thread-local and
//!   allocated ones) are touched only by the team of the thread that the activation, variable or allocation
//!   belongs to. The rules are those of `private`, with teams in the place of threads: an argument of the
//!   start of a helper stays in the team.
//!
//! Each is kept by all steps of all threads: by the thread's own steps from location to location, by calls
//! (into the context that [`ProcedureContext::calls`] names, and from its end back to the caller), by
//! starts (the context of the new thread), and by the steps of others. Others change none of a thread's
//! locals, so only `locks`, `absent`, `set`, `fresh`, `started` and `words` are theirs to break; each says
//! below why they do not. What speaks of cells they do not break since each step that may write such a cell
//! is excluded there by rule 1 or 2; for what outlives a call, during all of it, and the callee's `writes` do
//! not name the cell.
//!
//! # When two accesses do not race
//!
//! What an access may touch is what its points-to set names, as far as threads of its kind can get there: a
//! local holds addresses only in objects that the steps of these threads give it, where a parameter gets
//! what calls in threads of the kind pass, and a private thread-local variable holds what steps of such
//! threads store there. For what comes from other memory, from other threads and from inputs, the points-to
//! set stands. No claim of a proof is needed for that; the checker derives it.
//!
//! Two accesses of different threads, one at (c1, l1) of kind k1, the other at (c2, l2) of kind k2, that
//! may have a byte in common and of which one writes and not both are atomic, do not race if
//!
//! 1. k1 = k2, and that kind is in `once` or `alone`;
//! 2. k2 is absent at l1, or k1 is absent at l2;
//! 3. all bytes that they may have in common are in private objects;
//! 4. the address of one of them is computed by additions to a fresh local, and the program has no atomic
//!    accesses that order nothing ([`Program::unordered`](ir::Program::unordered) is empty);
//! 5. both hold a lock at the same address, not both for reading only. The address is the same if both are
//!    the same byte of the same object that there is one of; or if the distance from the access to the lock
//!    is the same constant on both sides and the two accesses can only overlap at equal addresses; or if
//!    it is the value of a word plus a constant ([`ThreadFacts::words`]), the constant is the same, and so
//!    is the address of the word, in one of these two senses: there is one such word at a time, and it has
//!    one value. A lock fact counts only where it is *reliable*: see [`ThreadFacts::locks`], and so does a
//!    word;
//! 6. k1 = k2, that kind is in `distinct` with n bytes, and both addresses are the thread's argument plus
//!    constants ([`ThreadFacts::argument`]) such that all bytes of both accesses are among the first n from
//!    the argument on;
//! 7. `started` at l1 lists k2; the address of the second access is its thread's argument plus a constant
//!    d; and for each of the members that are listed, the argument of thread x is B + s * x, the address of
//!    the first access is B + s * y + e, the bytes of both accesses are among the first s from e = 0 and d
//!    = 0 on, and y is none of the members' numbers. Or the same with 1 and 2 exchanged;
//! 8. all bytes that they may have in common are in objects of a team with helpers of kind H, and k1 is not
//!    H; and k2 is not H, either (then they are one thread), or `started` at l1 says that no thread of kind
//!    H is alive that this thread has started itself, or rule 7 holds for the list of these. Or the same
//!    with 1 and 2 exchanged. Or k1 and k2 are H, and rule 6 holds with n = [`Team::apart`], or at most one
//!    helper of a team is alive at any time ([`Team::alone`]).
//!
//! Rules 6, 7 and 8, and `alone` in rule 1, count only in programs that have no atomic accesses that order
//! nothing.

use ir::{EdgeId, IntType, LocalId, ObjectId, Target, TemplateId};
use serde::{Deserialize, Serialize};

/// What holds at each location of each procedure, in each context.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SummariesProof {
    /// Templates of which there is at most one activation in a whole run, in rising order.
    pub once: Vec<TemplateId>,
    /// Objects that only the thread touches that they belong to, in rising order.
    pub private: Vec<ObjectId>,
    /// Cells that hold the id of a thread, by object and offset, in rising order.
    pub handles: Vec<ThreadHandle>,
    /// Cells that count as locals.
    pub cells: Vec<Cell>,
    /// Kinds whose threads have arguments so many bytes apart, each kind once, in rising order.
    ///
    /// The program starts with no thread of such a kind. At each step that starts one, its starter is of
    /// another kind, and either the kind is absent there or `started` lists it: then the argument of thread
    /// x of each of the members is B + s * x, with s at least so many bytes, the new thread's argument is B
    /// + s * y, and y is none of their numbers.
    pub distinct: Vec<(TemplateId, u64)>,
    /// Kinds of which at most one thread is alive at any time, in rising order.
    ///
    /// The program starts with at most one thread of such a kind. At each step that starts one, its starter
    /// is of another kind, and the kind is absent there.
    pub alone: Vec<TemplateId>,
    /// Objects that helpers share with the thread that started them, each kind of helpers once, in rising
    /// order.
    pub teams: Vec<Team>,
    /// The contexts that procedures run in. Threads of the program's start come first, in the order of
    /// [`Program::start`](ir::Program::start): context `i` is that of the `i`-th entry.
    pub contexts: Vec<ProcedureContext>,
}

/// Objects that only a thread touches and the helpers that it started.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Team {
    /// The kind of the helpers.
    pub helper: TemplateId,
    /// The objects, in rising order.
    pub objects: Vec<ObjectId>,
    /// No two helpers of one team that are alive at the same time were started with arguments that are less
    /// than so many bytes apart, in the sense of `distinct`. At each step that starts one, the kind is
    /// absent, or `started` lists those that the starter has started itself, as for `distinct`.
    pub apart: u64,
    /// No two helpers of one team are alive at the same time: at each step that starts one, the kind is
    /// absent, or `started` lists none that the starter has started itself.
    pub alone: bool,
}

/// A cell in which nothing but the id of the only thread of a kind is ever stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThreadHandle {
    /// The object: a static one, or a frame object of a template in `once`.
    pub object: ObjectId,
    /// Where the cell starts; it is as wide as a pointer.
    pub offset: u64,
    /// The kind of the thread: a template in `once`.
    pub kind: TemplateId,
}

/// A variable in memory: some bytes of a static object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// The object.
    pub object: ObjectId,
    /// Where in it.
    pub offset: u64,
    /// How it is read.
    pub ty: IntType,
}

/// A procedure in one context: run by threads of one kind, with what is known where it is entered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcedureContext {
    /// The procedure.
    pub template: TemplateId,
    /// The kind of the threads that run it.
    pub kind: TemplateId,
    /// What holds at each location, by its number.
    pub facts: Vec<Option<ThreadFacts>>,
    /// For each edge that calls or starts a procedure, and each one that it may call or start: the context
    /// of the callee (by number in [`SummariesProof::contexts`]). In rising order.
    pub calls: Vec<(EdgeId, TemplateId, u32)>,
    /// Where locks may be that are given back in this context or in what it calls. Sorted.
    pub releases: Vec<Target>,
    /// The kinds that this context, or what it calls, may start threads of. In rising order.
    pub starts: Vec<TemplateId>,
    /// Where this context, or what it calls, may write bytes that some step stores the id of a thread in
    /// that it has just started. Sorted.
    pub stores: Vec<Target>,
    /// The cells, by number in [`SummariesProof::cells`], that this context, or what it calls, may write. In
    /// rising order.
    pub writes: Vec<u32>,
}

/// What holds whenever a thread is at a location.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThreadFacts {
    /// A local has the value of another local plus a constant, modulo 2 to the width of a pointer: (local,
    /// other, constant). Both are as wide as a pointer.
    pub equal: Vec<(LocalId, LocalId, u64)>,
    /// Locals that hold the id of the only thread of a kind in `once`. In rising order.
    pub ids: Vec<(LocalId, TemplateId)>,
    /// Handles, by number in [`SummariesProof::handles`], that this thread has stored the id in. In rising
    /// order. Nobody breaks that: whatever is stored there is the same id.
    pub set: Vec<u32>,
    /// Locks that the thread holds, sorted.
    ///
    /// A claim is *reliable* if no other thread can break it: each step of another thread that may write
    /// the lock's words other than by taking or giving back a lock (a plain write, a fill, a copy, a free,
    /// the end of a frame) is excluded by rule 1, 2, 3 or 4 of the module's text, with the place of the
    /// claim in the role of an access; and each step that gives back a lock that may be this one is made by
    /// a thread that holds it there (a lock fact that names the same address as the operation, at the
    /// step's source), or is excluded by rule 1 or 2. All operations on locks that may touch its words are
    /// of one family (mutexes, spin locks, read-write locks), and touch them only from their first byte on.
    /// A free breaks nothing unless freed addresses are given out again: nobody takes a lock that is gone.
    /// A start that hands over an object loses the locks that may be in it: the new owner may write there.
    /// A claim that outlives a call must be reliable during all of it. Claims that are not reliable are of
    /// no use: the checker may refuse them or leave them out.
    pub locks: Vec<LockFact>,
    /// Kinds of which no *other* thread is alive, in rising order. A thread is alive from the step that
    /// starts it to its end.
    ///
    /// A thread loses this by starting one. It gains it by joining the only thread of a kind (its id is in
    /// `ids`); then also for kinds that are absent wherever the joined kind may end, if nobody but that
    /// kind, or these kinds themselves, starts them. After a call it has what is absent at the callee's
    /// end, and what was absent before, is not in the callee's `starts`, and no other thread starts during
    /// the call. A new thread has what its starter has, but for the starter's own kind. No other thread
    /// breaks it if each step that starts a thread of the kind, at (c, l) of kind k, is not there meanwhile:
    /// k is absent here; or this thread's kind is absent at l; or k is this thread's own kind, and is in
    /// `once`.
    pub absent: Vec<TemplateId>,
    /// Locals that hold addresses into allocated objects that the thread owns, or null. In rising order.
    ///
    /// To own an object means that no other thread and no memory holds an address into it, and of the locals
    /// of the innermost activation only those that are listed here; locals that are not live (never read
    /// again before they are assigned) do not count. So a list may become shorter only if what is taken out
    /// has no object in common with what stays, by points-to sets, or is assigned, or is not live. An
    /// allocation adds; a copy of a listed local, plus a constant, adds; any other use of a listed local as
    /// a value (stored in memory, computed with, passed on other than as a whole argument) removes it and
    /// all that may point to the same objects; so does `free`. Several assignments at once that a listed
    /// local goes into, other than by comparison, empty the list. A call keeps what the callee's end keeps of
    /// its parameters (those that it never assigns), and adds the result if that is fresh there. A start
    /// removes an argument here. It hands it over to the new thread's parameter if no copy is ever read
    /// here again (locals that are listed and may point to the same objects are dead after the start), and
    /// no caller can have one (no parameter that is fresh at the entry may point to the same objects). A
    /// local that is 0 may be listed or not. Nothing is fresh that a guessed address may point to. Where a
    /// program may compare freed addresses, which are given out again, nothing is fresh of sites whose
    /// addresses are compared for equality with ones of allocated memory; for other sites an address that is
    /// given out again makes no difference, but to an access at an old copy, which is undefined.
    pub fresh: Vec<LocalId>,
    /// Locals that are the argument that this thread was started with, plus a constant modulo 2 to the
    /// width of a pointer. In rising order.
    pub argument: Vec<(LocalId, u64)>,
    /// Locals that have this value. In rising order.
    ///
    /// They come from constants, from arithmetic on such, and by arguments. So the address `&lock[n]` is that
    /// of one lock where the number `n` is known: in a step that names its address by such locals, a lock is
    /// taken, held and given back there only. A new thread knows none.
    pub numbers: Vec<(LocalId, i64)>,
    /// Inequalities between values of locals and constants, as integers: the first is at most the second.
    /// Sorted.
    ///
    /// They come from assumptions, constants and copies. Arithmetic in a signed type is exact, since a step
    /// that leaves its range is none.
    pub order: Vec<(Index, Index)>,
    /// Locals that have the value of a row for an integer: `&array[i]`, or what a cell holds. In rising
    /// order.
    pub placed: Vec<(LocalId, Row, Index)>,
    /// Kinds of which all *other* threads that are alive are among those listed; or all those that this
    /// thread has started itself (`own`). Each kind at most once of both sorts, in rising order.
    ///
    /// A start adds the new thread to the kinds that are absent or listed here, with a number of the
    /// starter's choice, as long as the rows say what they are: the id is stored in the same step, or is in
    /// a local and stored from there by a later one. A join of the id at B + s * y takes out the number y
    /// of members whose handles are B + s * x: whoever has that number is the thread that was joined. A
    /// list that is empty means that the kind is absent; so does one whose members have no numbers left. If
    /// the program starts with none of these, kinds are absent then, too, that are absent wherever this
    /// kind may end, and that nobody but it, or these kinds themselves, start. Numbered may be left out if
    /// they have no numbers, and listed with more numbers than there are. Handles are only where some step
    /// stores the id of a thread that was just started. A write that may touch a handle
    /// leaves members without one, unless it is surely at another element of the row, by its number. A call
    /// keeps the list if the callee's `starts` do not name the kind, and the handles that its `stores` do
    /// not meet; or it has what all ends of callees list, in terms of arguments, cells and static objects. A
    /// callee knows what its caller does in terms of its parameters and of these. A new thread knows nothing.
    /// No other thread breaks it if each step that starts
    /// a thread of the kind is not there meanwhile, as for `absent`, and each step that may write where
    /// handles are is excluded by rule 1, 2 or 3, with the place of the claim in the role of an access; for
    /// lists that outlive a call, during all of it. Handles are in no frame that there may be several of, but
    /// for that of this activation.
    ///
    /// Of its own threads (`own`) a thread that was just started has none, and nobody else starts one of
    /// them. A callee knows that there are none where its caller does, and the caller where all ends of
    /// callees do.
    pub started: Vec<Started>,
    /// Words in memory whose value a local has. Sorted.
    ///
    /// A thread gains one by loading the word into a local, or by storing a local's value there. A load of a
    /// word that is listed gives the value that is listed. A step of the thread that may write one of its
    /// bytes loses it, and so does a call if the callee, or what it calls, has such a step. A new thread and
    /// a callee know none. A claim is *reliable* if no other thread can break it: the word is in a static
    /// object, an allocated one, or a frame object of a template in `once`, and each step of another thread
    /// that may write one of its bytes (taking, giving back and freeing count) is excluded by rule 1 or 2 of
    /// the module's text, with the place of the claim in the role of an access; or the word is in a private
    /// object; or the address of the write is that of a fresh local, and the local that the word is counted
    /// from is live at the claim (then this thread has that address, and nobody else owns the object). A
    /// claim that outlives a call must be reliable during all of it. Claims that are not reliable are left
    /// out, as for locks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<Word>,
}

/// A word in memory, as wide as a pointer, and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Word {
    /// What its address is counted from.
    pub base: LockBase,
    /// How far it is from there, modulo 2 to the width of a pointer.
    pub offset: u64,
    /// Its value is that of this local,
    pub local: LocalId,
    /// and this, modulo 2 to the width of a pointer.
    pub plus: u64,
}

/// Threads of a kind that may be alive.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Started {
    /// The kind.
    pub kind: TemplateId,
    /// Whether only those count that this thread has started itself.
    pub own: bool,
    /// The threads.
    pub members: Vec<Numbered>,
}

/// Threads that have numbers: one for each integer from the largest of `from` on, up to but without the
/// smallest of `below`. Neither list is empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Numbered {
    /// Where the id of each is, if that is known.
    pub handle: Option<Handle>,
    /// The argument that each was started with, if that is known.
    pub argument: Option<Row>,
    /// The least number is at least each of these.
    pub from: Vec<Index>,
    /// All numbers are less than each of these.
    pub below: Vec<Index>,
}

/// Where ids of threads are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Handle {
    /// In a local: all members have that id.
    Local(LocalId),
    /// In memory: the id of thread x is the word, as wide as a pointer, at the x-th address of the row.
    Memory(Row),
}

/// The values `base + offset + stride * x`, modulo 2 to the width of a pointer. The stride is less than 2
/// to the power of 28, and 0 where pointers have fewer than 64 bits: so no two numbers have the same value
/// unless the stride is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// What the values are counted from.
    pub base: LockBase,
    /// How far it is from there to the value for 0.
    pub offset: u64,
    /// The distance of neighbours.
    pub stride: u64,
}

/// An integer: a constant of at most 64 bits, or the value of a local plus one of at most 32 bits, with a
/// sign. A number of a thread tells it from others only where it is known to be less than 2 to the power of
/// 33 in size: by its type, or by inequalities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Index {
    /// The local, if there is one.
    pub local: Option<LocalId>,
    /// What is added.
    pub plus: i128,
}

/// A lock that a thread holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockFact {
    /// What its address is counted from.
    pub base: LockBase,
    /// How far it is from there, modulo 2 to the width of a pointer.
    pub offset: u64,
    /// Whether it is held for reading at least; otherwise its owner word is the thread's id.
    pub shared: bool,
}

/// What the address of a lock is counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum LockBase {
    /// The start of an object that there is one of: a static one, a frame object of a template in `once`,
    /// or that of a site that one step names, of a template in `once` and on no cycle, with the size of the
    /// object. For rows, of a frame object of the activation, too.
    Object(ObjectId),
    /// The value that a local of the activation has now; for rows, also that of a cell.
    Local(LocalId),
}
