//! Searches for an execution along a schedule: turns an engine's result by formulas into a trace of the
//! program.
//!
//! The formulas are about a program with composed and sliced steps, so a schedule says only roughly which
//! thread runs when, and with which inputs. The search follows it, and deviates in a few places: in its turn,
//! a thread runs until the turn is complete; continuing then, yielding earlier, or taking another input than
//! the schedule costs one each. Executions without cost are tried first, then those that cost at most 1, 2,
//! 3, … (limited discrepancy search: Harvey and Ginsberg, IJCAI 1995).
//!
//! Under-approximates: the result is an execution; a failure means nothing.

use crate::model::{Facts, Model};
use crate::shorten::shorten;
use ir::semantics::{Choice, ChoiceKind, Choices, State, Stuck};
use ir::{Count, EdgeId, Program, Span, TemplateId, Value};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;
use verdict::{Budget, Property, Schedule, Trace, TraceStep};

/// What leaving the schedule may cost in all, round by round.
const ROUNDS: [u32; 6] = [0, 1, 2, 3, 5, 8];
/// Steps of each round.
const STEPS: usize = 100_000;
/// Steps that are taken after the end of the schedule at most: what loops there for ever must not take all of
/// a round.
const BEYOND: u32 = 60;
/// Values to try for each input.
const CANDIDATES: usize = 6;

/// Looks for an execution that violates the property along a schedule.
pub fn follow(program: &Program, property: &Property, schedule: &Schedule, budget: &Budget) -> Option<Trace> {
    let threads = schedule.turns.iter().map(|turn| turn.thread as u32 + 1).max().unwrap_or(1);
    let copies = program.start.iter().map(|(_, count)| match count {
        Count::Exactly(copies) => *copies,
        Count::Any => threads,
    });
    let copies: Vec<u32> = copies.collect();
    let model =
        Model::new(program, Arc::new(Facts::new(program)), property.clone(), usize::MAX, false).ok()?;
    let mut guide = Guide { model: &model, schedule, budget, seen: FxHashMap::default(), steps: 0 };
    let trace = ROUNDS.iter().find_map(|most| guide.round(&copies, *most))?;
    Some(shorten(&model, trace, budget))
}

/// A step, and those before it.
struct StepHistory {
    step: TraceStep,
    before: Option<Rc<StepHistory>>,
}

/// Where an execution is, in the program and on the schedule.
#[derive(Clone)]
struct Place {
    state: State,
    turn: usize,
    /// How many steps of the turn were taken.
    matched: usize,
    /// How many inputs of the turn were taken.
    inputs: usize,
    /// What it has cost.
    cost: u32,
    /// How many steps were taken after the end of the schedule.
    beyond: u32,
    past: Option<Rc<StepHistory>>,
}

struct Guide<'a, 'p> {
    model: &'a Model<'p>,
    schedule: &'a Schedule,
    budget: &'a Budget,
    /// The least cost with which a place was reached in this round.
    seen: FxHashMap<u64, u32>,
    steps: usize,
}

impl<'a, 'p> Guide<'a, 'p> {
    /// Tries all executions that cost at most so much.
    fn round(&mut self, copies: &[u32], most: u32) -> Option<Trace> {
        self.seen.clear();
        self.steps = 0;
        let state = self.model.machine.initial(copies).ok()?;
        let mut open = vec![Place { state, turn: 0, matched: 0, inputs: 0, cost: 0, beyond: 0, past: None }];
        while let Some(place) = open.pop() {
            if self.steps > STEPS || self.budget.check(0).is_err() {
                return None;
            }
            if let Some(violation) = self.model.violation(&place.state) {
                let mut steps = Vec::new();
                let mut past = place.past.as_deref();
                while let Some(here) = past {
                    steps.push(here.step.clone());
                    past = here.before.as_deref();
                }
                steps.reverse();
                let trace = Trace { copies: copies.to_vec(), steps, violation };
                if self.model.is_evidence(&trace) {
                    return Some(trace);
                }
            }
            if self.is_new(&place) {
                let mut next = self.next(&place);
                next.retain(|place| place.cost <= most);
                open.extend(next.into_iter().rev());
            }
        }
        None
    }

    /// Whether nobody was here before for the same price.
    fn is_new(&mut self, place: &Place) -> bool {
        let mut hasher = FxHasher::default();
        (&place.state, place.turn, place.matched, place.inputs).hash(&mut hasher);
        let known = self.seen.entry(hasher.finish()).or_insert(u32::MAX);
        let new = place.cost < *known;
        *known = place.cost.min(*known);
        new
    }

    /// Where to go from a place, the best first.
    fn next(&mut self, place: &Place) -> Vec<Place> {
        let Some(turn) = self.schedule.turns.get(place.turn) else { return Vec::new() };
        let runs = self.model.machine.schedulable(&place.state).contains(&turn.thread);
        let mut found = if runs { self.steps_of(place) } else { Vec::new() };
        if found.is_empty() {
            // It waits, or has reached its end; or it was not started, though it should have been.
            let missing = turn.thread >= place.state.threads.len();
            return self.give_way(place, u32::from(missing)).into_iter().collect();
        }
        let complete = place.matched >= turn.spans.len();
        if complete && place.turn + 1 == self.schedule.turns.len() {
            found.iter_mut().for_each(|place| place.beyond += 1);
            found.retain(|place| place.beyond <= BEYOND);
        }
        let is_local = self.model.next(&place.state, turn.thread).is_some_and(|next| next.local);
        // In an atomic region nobody else could continue.
        let is_alone = place.state.location(turn.thread).is_some_and(|(template, location)| {
            self.model.machine.program.templates[template].locations[location].runs_alone()
        });
        if !is_local && !is_alone {
            match self.give_way(place, u32::from(!complete)) {
                Some(other) if complete => {
                    found.iter_mut().for_each(|place| place.cost += 1);
                    found.insert(0, other);
                }
                other => found.extend(other),
            }
        }
        found
    }

    fn give_way(&self, place: &Place, cost: u32) -> Option<Place> {
        let turn = place.turn + 1;
        (turn < self.schedule.turns.len()).then(|| Place {
            turn,
            matched: 0,
            inputs: 0,
            cost: place.cost + cost,
            ..place.clone()
        })
    }

    /// The steps that the thread whose turn it is can take.
    fn steps_of(&mut self, place: &Place) -> Vec<Place> {
        let thread = self.schedule.turns[place.turn].thread;
        let machine = &self.model.machine;
        let Some((template, _)) = place.state.location(thread) else { return Vec::new() };
        let mut found: Vec<Place> = Vec::new();
        for &edge in machine.edges(&place.state, thread) {
            // First as the schedule says, then with one value changed.
            let mut changes: Vec<Option<(usize, Value)>> = vec![None];
            let mut at = 0;
            while at < changes.len() {
                let mut values = self.values(place, (template, edge), changes[at]);
                let mut state = place.state.clone();
                self.steps += 1;
                match machine.advance(&mut state, thread, edge, &mut values, &mut Vec::new()) {
                    Ok(()) => {
                        let mut next = self.after(place, edge, state, &values);
                        next.cost += u32::from(at > 0);
                        found.push(next);
                    }
                    Err(Stuck::Blocked | Stuck::Fault(_) | Stuck::Limit(_)) => {}
                }
                if at == 0 {
                    changes.append(&mut values.alternatives);
                }
                at += 1;
            }
        }
        found.sort_by_key(|place| place.cost);
        found
    }

    fn values(
        &self,
        place: &Place,
        edge: (TemplateId, EdgeId),
        change: Option<(usize, Value)>,
    ) -> Values<'a, 'p> {
        let span = self.model.machine.program.templates[edge.0].edges[edge.1].span;
        let given = &self.schedule.turns[place.turn].inputs;
        Values {
            model: self.model,
            edge,
            span,
            given: &given[place.inputs.min(given.len())..],
            used: 0,
            change,
            made: Vec::new(),
            asked: 0,
            alternatives: Vec::new(),
        }
    }

    /// The place after a step.
    fn after(&self, place: &Place, edge: EdgeId, state: State, values: &Values<'_, '_>) -> Place {
        let turn = &self.schedule.turns[place.turn];
        let rest = &turn.spans[place.matched.min(turn.spans.len())..];
        let step = TraceStep { thread: turn.thread, edge, choices: values.made.clone() };
        Place {
            state,
            turn: place.turn,
            matched: place.matched + rest.iter().position(|span| *span == values.span).map_or(0, |at| at + 1),
            inputs: place.inputs + values.used,
            cost: place.cost,
            beyond: place.beyond,
            past: Some(Rc::new(StepHistory { step, before: place.past.clone() })),
        }
    }
}

/// The open values of a step.
struct Values<'a, 'p> {
    model: &'a Model<'p>,
    edge: (TemplateId, EdgeId),
    span: Span,
    /// What the schedule says from here on.
    given: &'a [(Span, Value)],
    /// How many of those were taken, or passed over.
    used: usize,
    /// A value to take instead.
    change: Option<(usize, Value)>,
    made: Vec<Value>,
    /// Inputs that were asked for.
    asked: usize,
    /// Other values to try.
    alternatives: Vec<Option<(usize, Value)>>,
}

impl Choices for Values<'_, '_> {
    fn choose(&mut self, choice: Choice) -> Value {
        let number = self.made.len();
        let candidates = self.model.facts.inputs.of_choice(self.edge, &mut self.asked, choice);
        let rest = &self.given[self.used.min(self.given.len())..];
        let fits = |value: Value| choice.ty.contains(value);
        // Steps that were put together have one place only: so the next value in order may be meant.
        let said = rest
            .iter()
            .position(|(span, value)| *span == self.span && fits(*value))
            .or_else(|| rest.first().filter(|(_, value)| fits(*value)).map(|_| 0));
        let mut values: Vec<Value> = Vec::new();
        if let Some(at) = said.filter(|_| choice.kind != ChoiceKind::Open) {
            values.push(rest[at].1);
            self.used += at + 1;
        }
        let others = candidates.values.iter().copied().take(CANDIDATES);
        let mentioned = rest.iter().map(|(_, value)| *value).filter(|value| fits(*value)).take(CANDIDATES);
        for value in others.chain(mentioned) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        self.alternatives.extend(values.iter().skip(1).map(|value| Some((number, *value))));
        let value = match self.change {
            Some((changed, value)) if changed == number => value,
            _ => values.first().copied().unwrap_or(0),
        };
        self.made.push(value);
        value
    }
}
