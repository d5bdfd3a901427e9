//! Checks proofs. Shares only the step semantics with the searches.
//!
//! [`Proof::Exhaustive`] claims that no execution is bad. The check follows all executions itself: first
//! plainly, with all steps of all threads from every state. If that takes too many states, it starts again
//! and omits interleavings of *private* steps, as follows.
//!
//! From every stored state, the check takes the steps of all threads. Before it stores a state, it runs it
//! through private steps, a bounded number in a row; the states in between are not stored. The steps that a
//! thread t can take in a state are private if there is at least one; they enter no atomic region and do not
//! end the program; they touch no other thread's stack; and they are independent of anything that another
//! thread may do in its whole future ([`crate::future`]).
//!
//! This loses no bad state. Let s be stored, and a bad state n steps away. If n = 0, s is bad, and the check
//! sees that. Otherwise the check takes the first of these steps, from s to s1. Consider private steps of t
//! from s1 on. If t moves on the path to the bad state, its first move can be made at once instead, as it
//! commutes with all steps before it. If t does not move, making its step first leaves the others possible,
//! and they lead to a state that differs only by t's step. That state is bad, too: t is not at an error
//! location, as it can move; t's accesses are not part of the race, or they would not be independent of the
//! future of the other thread; t does not wait for a lock in the cycle, as it could take it at s1, so another
//! thread would have to take it later; nor does t wait for a thread to end, as ended threads stay ended. In
//! both cases the bad state is at most n - 1 steps away from the next stored state. While a thread is in an
//! atomic region, no other thread can run: its steps are all steps. Such a state is not stored, but checked
//! as if it were.
//!
//! The argument needs independence only of what another thread may do before t moves. So while t holds a
//! lock, as its owner word says, the check ignores accesses that others make only under that lock, and their
//! attempts to acquire it. For that, no other thread may be at a location where it must hold the lock
//! ([`crate::future_locks`]), and the others must not change the object that contains the lock without
//! holding it, except by acquiring it. Then the lock stays t's until t moves, no other thread acquires it,
//! and so no other thread reaches an access that is made under it. The same holds for the race of the last
//! paragraph; and in a deadlock, no thread in the cycle waits for t's lock, as t is not in it. Where no
//! thread can run, t cannot run either: such a state has no private step.
//!
//! Threads that are stuck ([`ir::semantics::StateGraph`]) stay stuck when t moves, and t is none of them; so
//! a stored state is reached in which they are stuck. The graph of stored states shows it: if one of them
//! could take a step later, or the program could end, then, by the same argument, this would also happen
//! along private steps.
//!
//! In stored states, locals that are not read again are set to 0.
//!
//! Memory that may be lost ([`Machine::may_leak`]) stays lost: no step finds it again, except that joining a
//! thread finds what its result leads to. So a stored state shows it, later if not at once. Without
//! reduction, such results count if they are found in all continuations: among the states that await this,
//! none is the last one of an execution, and there is no cycle ([`crate::awaiting`]). Memory that is left
//! where the program ends may be freed by a private step before, so all steps are taken in all orders then.

use crate::awaiting::Awaiting;
use crate::executions::{Exception, rests_on_points_to, try_points_to, try_property};
use crate::follow::follow_all;
use crate::inputs::Inputs;
use crate::ready::require_all_behaviours;
use crate::stuck::Graph;
use ir::passes::LockOrder;
use ir::semantics::{
    Choice, ChoiceKind, Choices, Leak, LimitKind, Machine, State, Stuck, Trail, wait_in_atomic_region,
};
use ir::{Count, EdgeId, LocationKind, ObjectRole, Op, Program, Span, TemplateId, Value};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::fmt;
use verdict::{Budget, Exhausted, IllFormed, Proof, Property, Reason, RunsProof, Views};

/// Why a proof is not accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ProofError {
    /// The proof is about another number of threads than the program has.
    Copies,
    /// An assumption about the program may hide behaviour.
    Assumption(String),
    /// An execution exceeds a bound of the concrete machine.
    Limit(LimitKind),
    /// An input has too many values to try one by one, and the check cannot partition them into finitely many
    /// classes.
    Input(TemplateId, EdgeId),
    /// There is a bad state.
    Violated,
    /// Only the result of a thread leads to some memory, and it may stay so.
    Awaiting,
    /// A claim of the proof is false, or does not follow.
    Claim(String),
    /// It does not have the form of a proof.
    Form(IllFormed),
    /// A step touched what points-to sets leave out: how, where it is known. A pointer left its object
    /// (assumption 14 of `SOUNDNESS.md`), or the sets are wrong.
    Unforeseen(Option<Box<Exception>>),
    /// There is an execution that the proof excludes.
    Execution(Box<Exception>),
    /// The check exhausted its budget.
    TooExpensive(Exhausted),
}

impl fmt::Display for ProofError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Copies => f.write_str("the proof is about another number of threads"),
            Self::Assumption(text) => write!(f, "behaviours are left out: {text}"),
            Self::Limit(limit) => write!(f, "an execution goes past the limit on {limit:?}"),
            Self::Input(template, edge) => write!(f, "the input at {template}:{edge} has too many values"),
            Self::Violated => f.write_str("there is a violation"),
            Self::Awaiting => f.write_str("allocated memory is lost unless who joins a thread gets it"),
            Self::Claim(text) => write!(f, "a claim of the proof does not hold: {text}"),
            Self::Form(wrong) => write!(f, "it has not the form of a proof: {wrong}"),
            Self::Unforeseen(how) => {
                f.write_str("a pointer left the objects that it was thought to point to")?;
                how.as_ref().map_or(Ok(()), |how| write!(f, ": {how}"))
            }
            Self::Execution(exception) => write!(f, "{exception}"),
            Self::TooExpensive(exhausted) => {
                write!(f, "the check takes too long or too much memory ({exhausted:?})")
            }
        }
    }
}

impl std::error::Error for ProofError {}

impl From<ProofError> for Reason {
    fn from(error: ProofError) -> Self {
        match error {
            ProofError::TooExpensive(exhausted) => Self::Exhausted(exhausted),
            ProofError::Assumption(text) => Self::NotSupported(text, Span::default()),
            ProofError::Unforeseen(_) | ProofError::Awaiting => Self::GaveUp(error.to_string()),
            ProofError::Copies
            | ProofError::Limit(_)
            | ProofError::Input(..)
            | ProofError::Violated
            | ProofError::Claim(_)
            | ProofError::Execution(_)
            | ProofError::Form(_) => Self::Rejected(error.to_string()),
        }
    }
}

/// Checks a proof about atomic runs: there is no race, so runs may be atomic; and with atomic runs there is
/// no error.
///
/// Race freedom must come from an analysis of all accesses that a step could make. A search through
/// executions would miss races: it only sees the accesses that a step makes in a state, with some value for
/// each input.
fn check_runs(
    program: &Views,
    property: &Property,
    proof: &RunsProof,
    budget: &Budget,
) -> Result<(), ProofError> {
    let claim = |text: &str| Err(ProofError::Claim(text.to_owned()));
    match (property, &proof.races) {
        (Property::NoError(_), Proof::Flow(_) | Proof::OneThread) => {}
        (Property::NoError(_), _) => return claim("races are excluded by an analysis of all accesses"),
        (Property::NoRace | Property::NoDeadlock | Property::NoLeak(_), _) => {
            return claim("it is about errors");
        }
    }
    if matches!(proof.errors, Proof::Runs(_)) {
        return claim("runs are made atomic once");
    }
    if program.races_on.is_some() {
        return claim("races are excluded everywhere");
    }
    check_rules(program, &Property::NoRace, &proof.races, budget)?;
    // Runs are made by these sets.
    crate::ready::points_to(program, budget)?;
    let runs = program.lipton_reduce(budget).map_err(ProofError::TooExpensive)?;
    check_rules(runs, property, &proof.errors, budget)
}

/// Checks that a proof shows the property, by its proof rule and along random executions.
pub fn check_proof(
    program: &Views,
    property: &Property,
    proof: &Proof,
    budget: &Budget,
) -> Result<(), ProofError> {
    check_rules(program, property, proof, budget)?;
    try_property(program, property, proof, budget)?;
    if rests_on_points_to(proof) { try_points_to(program, budget) } else { Ok(()) }
}

/// Checks that a proof shows the property, by its proof rule, which relies on the form of the proof.
pub(crate) fn check_rules(
    program: &Views,
    property: &Property,
    proof: &Proof,
    budget: &Budget,
) -> Result<(), ProofError> {
    require_all_behaviours(program)?;
    let of_sites = |range: &ir::Range| program.objects[range.object].storage != ir::Storage::Static;
    if program.races_on.iter().flatten().any(of_sites) {
        // Passes may distinguish allocations of one site, and the race check would then follow only one of
        // them.
        return Err(ProofError::Claim(
            "races on allocated memory alone are searched for, and not excluded".to_owned(),
        ));
    }
    proof.check_form().map_err(ProofError::Form)?;
    let is_about_leaks = matches!(property, Property::NoLeak(_));
    if is_about_leaks && !matches!(proof, Proof::Exhaustive { .. } | Proof::NoErrorLocation | Proof::Owned(_))
    {
        return Err(ProofError::Claim("it says nothing about allocated memory".to_owned()));
    }
    // Some time is reserved for freeing memory.
    let budget = &budget.most_of(19, 20);
    match proof {
        Proof::Exhaustive { .. } if program.has_broadcasts() => {
            Err(ProofError::Claim("steps that change locals of other threads are not followed".to_owned()))
        }
        Proof::Exhaustive { copies, states: _ } => {
            let fits = copies.len() == program.start.len()
                && program
                    .start
                    .iter()
                    .zip(copies)
                    .all(|((_, count), copies)| *count == Count::Exactly(*copies));
            if !fits {
                return Err(ProofError::Copies);
            }
            if *property == Property::NoDeadlock && wait_in_atomic_region(program).is_some() {
                return Err(ProofError::Claim("a thread may wait in an atomic region".to_owned()));
            }
            match check_all_executions(program, property, copies, Some(PLAIN_STATES), budget) {
                Err(ProofError::TooExpensive(_)) => {
                    // What is freed later is left if the program ends before: no step may be taken at once.
                    let plainly = *property == Property::NoLeak(Leak::Left);
                    check_all_executions(program, property, copies, plainly.then_some(usize::MAX), budget)
                }
                other => other,
            }
        }
        Proof::NoErrorLocation if matches!(property, Property::NoLeak(_)) => {
            let allocates = |op: &Op| matches!(op, Op::Allocate { site, .. } if program.objects[*site].role == ObjectRole::Allocated);
            let mut ops = program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops);
            if ops.any(allocates) { Err(ProofError::Violated) } else { Ok(()) }
        }
        Proof::NoErrorLocation => {
            let Property::NoError(kinds) = property else { return Err(ProofError::Violated) };
            let mut locations = program.templates.iter().flat_map(|code| &code.locations);
            let bad = locations
                .any(|location| matches!(location.kind, LocationKind::Error(kind) if kinds.contains(&kind)));
            if bad { Err(ProofError::Violated) } else { Ok(()) }
        }
        Proof::Flow(proof) => crate::flow::check(program, property, proof, budget),
        Proof::States(proof) => crate::states::check(program, property, proof, budget),
        Proof::Abstraction(proof) => crate::abstraction::check(program, property, proof, budget),
        Proof::Runs(proof) => check_runs(program, property, proof, budget),
        Proof::Product(proof) => crate::product::check(program, property, proof, budget),
        Proof::Queries(proof) => crate::queries::check(program, property, proof, budget),
        Proof::Spec(proof) => crate::spec::check(program, property, proof, budget),
        Proof::Summaries(proof) => crate::summaries::check(program, property, proof, budget),
        Proof::Owned(proof) => crate::owned::check(program, property, proof, budget),
        Proof::Modular(proof) => crate::modular::check(program, property, proof, budget),
        Proof::Context(proof) => crate::context::check(program, property, proof, budget),
        Proof::LockOrder(order) => {
            let found = LockOrder::of(program).filter(|_| *property == Property::NoDeadlock);
            let holds = found.is_some_and(|found| found.is_sorted(order));
            let claim =
                || ProofError::Claim("threads take locks in another order, or wait otherwise".to_owned());
            if holds { Ok(()) } else { Err(claim()) }
        }
        Proof::OneThread => {
            let threads = program.start.iter().map(|(_, count)| match count {
                Count::Exactly(copies) => u64::from(*copies),
                Count::Any => u64::MAX,
            });
            let mut ops = program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops);
            let one = threads.fold(0, u64::saturating_add) <= 1 && !ops.any(|op| matches!(op, Op::Spawn(..)));
            if one && *property == Property::NoRace { Ok(()) } else { Err(ProofError::Violated) }
        }
    }
}

/// Follows all executions. With `plain_states`, without any reduction, for at most this many states.
pub fn check_all_executions(
    program: &Program,
    property: &Property,
    copies: &[u32],
    plain_states: Option<usize>,
    budget: &Budget,
) -> Result<(), ProofError> {
    match plain_states {
        Some(most) => follow_all_plainly(program, property, copies, most, budget),
        None => follow_all(program, property, copies, budget),
    }
}

/// Whether a state is bad.
fn is_bad(machine: &Machine<'_>, property: &Property, state: &State) -> bool {
    match property {
        Property::NoError(kinds) => (0..state.threads.len()).any(|thread| {
            let Some((template, location)) = state.location(thread) else { return false };
            match machine.program.templates[template].locations[location].kind {
                LocationKind::Error(kind) => kinds.contains(&kind),
                LocationKind::Normal | LocationKind::End | LocationKind::Exit | LocationKind::Halt => false,
            }
        }),
        Property::NoRace => machine.race(state).is_some(),
        Property::NoDeadlock => machine.deadlock(state).is_some(),
        Property::NoLeak(leak) => machine.may_leak(state, *leak),
    }
}

/// Why a state is refused, if it is: it is bad, or it would be without joins.
pub(crate) fn refused(machine: &Machine<'_>, property: &Property, state: &State) -> Option<ProofError> {
    if !is_bad(machine, property, state) {
        return None;
    }
    let awaits = matches!(property, Property::NoLeak(leak) if machine.awaits_join(state, *leak));
    Some(if awaits { ProofError::Awaiting } else { ProofError::Violated })
}

/// Gives a step its open values: a fixed prefix, then the first value of each list. Records the lists.
pub(crate) struct Odometer<'a> {
    pub inputs: &'a Inputs,
    pub at: (TemplateId, EdgeId),
    /// Which value of its list each open value takes.
    pub digits: Vec<usize>,
    /// The lengths of the lists asked for.
    pub lengths: Vec<usize>,
    /// Inputs asked for, not counting open memory.
    pub asked: usize,
    /// Whether some value could not be listed.
    pub endless: bool,
    /// Whether memory was given a value by being read.
    pub opened: bool,
    /// Whether a value that is not modelled was asked for since the last turn.
    pub unmodelled: bool,
}

impl<'a> Odometer<'a> {
    pub fn new(inputs: &'a Inputs, at: (TemplateId, EdgeId)) -> Self {
        let (digits, lengths) = (Vec::new(), Vec::new());
        Self { inputs, at, digits, lengths, asked: 0, endless: false, opened: false, unmodelled: false }
    }
    /// Advances to the next combination; says whether there is one.
    pub fn turn(&mut self) -> bool {
        self.asked = 0;
        self.unmodelled = false;
        self.digits.resize(self.lengths.len(), 0);
        while let Some(length) = self.lengths.pop() {
            let digit = self.digits.pop().unwrap_or(0) + 1;
            if digit < length {
                self.digits.push(digit);
                self.lengths.clear();
                return true;
            }
        }
        false
    }
}

impl Choices for Odometer<'_> {
    fn choose(&mut self, choice: Choice) -> Value {
        self.unmodelled |= choice.kind == ChoiceKind::Unknown;
        let reuse: Vec<Value>;
        let list = match choice.kind {
            ChoiceKind::Reuse(count) => {
                reuse = (0..=Value::from(count)).collect();
                Some(reuse.as_slice())
            }
            ChoiceKind::Open => {
                self.opened = true;
                self.inputs.all_of(choice.ty)
            }
            ChoiceKind::Any | ChoiceKind::Unknown => {
                self.asked += 1;
                self.inputs.at(self.at, self.asked - 1, choice.ty)
            }
        };
        let Some(list) = list.filter(|list| !list.is_empty()) else {
            self.endless = true;
            self.lengths.push(1);
            return 0;
        };
        let digit = self.digits.get(self.lengths.len()).copied().unwrap_or(0);
        self.lengths.push(list.len());
        list[digit.min(list.len() - 1)]
    }
}

/// The most states without reduction.
const PLAIN_STATES: usize = 20_000;

fn follow_all_plainly(
    program: &Program,
    property: &Property,
    copies: &[u32],
    most: usize,
    budget: &Budget,
) -> Result<(), ProofError> {
    let machine = Machine::new(program).map_err(ProofError::Limit)?;
    let inputs = Inputs::new(program);
    let initial = machine.initial(copies).map_err(ProofError::Limit)?;
    let each = 200 + initial.statics.held() as u64;
    let mut graph = Graph::new(property);
    let mut awaiting = Awaiting::default();
    let mut seen: FxHashMap<State, u32> = FxHashMap::from_iter([(initial.clone(), 0)]);
    let mut queue = VecDeque::from([(0, initial)]);
    let mut steps: u64 = 0;
    while let Some((number, state)) = queue.pop_front() {
        match refused(&machine, property, &state) {
            None => {}
            Some(ProofError::Awaiting) => awaiting.state(number),
            Some(error) => return Err(error),
        }
        graph.state(&state);
        for thread in machine.schedulable(&state) {
            let Some((template, _)) = state.location(thread) else { continue };
            for &edge in machine.edges(&state, thread) {
                let mut odometer = Odometer::new(&inputs, (template, edge));
                loop {
                    steps += 1;
                    if steps.is_multiple_of(512) {
                        budget
                            .check(seen.len() as u64 * each + graph.bytes())
                            .map_err(ProofError::TooExpensive)?;
                    }
                    match machine.step(&state, thread, edge, &mut odometer).result {
                        Ok(next) => {
                            let trail = Trail::default().then(&machine, &next, thread, odometer.unmodelled);
                            let fresh = seen.len() as u32;
                            let to = match seen.get(&next) {
                                Some(known) => *known,
                                None => {
                                    seen.insert(next.clone(), fresh);
                                    queue.push_back((fresh, next));
                                    fresh
                                }
                            };
                            graph.add(number, to, thread, trail);
                            awaiting.add(number, to);
                            if seen.len() > most {
                                return Err(ProofError::TooExpensive(Exhausted::Memory));
                            }
                        }
                        Err(Stuck::Limit(limit)) => return Err(ProofError::Limit(limit)),
                        Err(Stuck::Blocked | Stuck::Fault(_)) => {}
                    }
                    if odometer.endless {
                        return Err(ProofError::Input(template, edge));
                    }
                    if !odometer.turn() {
                        break;
                    }
                }
            }
        }
    }
    if !awaiting.all_end() {
        return Err(ProofError::Awaiting);
    }
    graph.check(&machine)
}
