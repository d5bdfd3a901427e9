//! Random walks that search for races between accesses that need not be enabled at the same time, for atomic
//! accesses that impose no order ([`Program::unordered`](ir::Program)).
//!
//! Under-approximates: finds races only. The sequence of walks is the same each time.

use crate::guesses::Guesses;
use crate::random::{Random, SEEDS};
use executions::model::Model;
use ir::semantics::{HappensBefore, Machine, State, ThreadIndex};
use verdict::{Budget, Exhausted, Trace, TraceStep, Violation};

/// How many walks there are.
const WALKS: usize = 400;
/// Steps of one walk.
const LONGEST: usize = 1_000;

/// Walks at random.
pub fn search(model: &Model<'_>, copies: &[u32], budget: &Budget) -> Result<Option<Trace>, Exhausted> {
    let mut walks = Walks { random: Random::new(SEEDS[1]) };
    for _ in 0..WALKS {
        budget.check(0)?;
        if let Some(trace) = walks.walk(model, copies) {
            return Ok(Some(trace));
        }
    }
    Ok(None)
}

struct Walks {
    random: Random,
}

impl Walks {
    fn walk(&mut self, model: &Model<'_>, copies: &[u32]) -> Option<Trace> {
        let machine = &model.machine;
        let mut state = machine.initial(copies).ok()?;
        let mut order = HappensBefore::new(machine, &state);
        let mut steps: Vec<TraceStep> = Vec::new();
        // How long a thread runs before another one does.
        let stay = 1 + self.random.below(12);
        let mut turn: ThreadIndex = 0;
        while steps.len() < LONGEST && !state.halted {
            if let Some(pair) = races(machine, &state, &order) {
                return Some(Trace { copies: copies.to_vec(), steps, violation: Violation::Race(pair) });
            }
            let able = machine.schedulable(&state);
            if !able.contains(&turn) || self.random.below(stay) == 0 {
                turn = *able.get(self.random.below(able.len()))?;
            }
            let mut moved = self.step(model, &state, turn);
            if moved.is_none() {
                let others = able.into_iter().filter(|thread| *thread != turn).collect::<Vec<_>>();
                let first = self.random.below(others.len());
                for offset in 0..others.len() {
                    turn = others[(first + offset) % others.len()];
                    moved = self.step(model, &state, turn);
                    if moved.is_some() {
                        break;
                    }
                }
            }
            let (step, next, accesses) = moved?;
            order.step(&state, (turn, step.edge), &accesses, &next);
            steps.push(step);
            state = next;
        }
        None
    }

    /// One of the steps that a thread can take, without values that are not modelled.
    fn step(
        &mut self,
        model: &Model<'_>,
        state: &State,
        thread: ThreadIndex,
    ) -> Option<(TraceStep, State, Vec<ir::semantics::Access>)> {
        let (template, _) = state.location(thread)?;
        let edges = model.machine.edges(state, thread);
        let first = self.random.below(edges.len());
        (0..edges.len()).find_map(|offset| {
            let edge = edges[(first + offset) % edges.len()];
            let mut values = Guesses::new(model, (template, edge), self.random.below(usize::MAX));
            let taken = model.machine.step(state, thread, edge, &mut values);
            let next = taken.result.ok().filter(|_| !values.tainted)?;
            Some((TraceStep { thread, edge, choices: values.made }, next, taken.accesses))
        })
    }
}

/// A thread whose next access races with an earlier one.
fn races(
    machine: &Machine<'_>,
    state: &State,
    order: &HappensBefore<'_, '_>,
) -> Option<[(ThreadIndex, ir::EdgeId); 2]> {
    machine.schedulable(state).into_iter().find_map(|thread| {
        machine.edges(state, thread).iter().find_map(|edge| {
            let accesses = machine.next_accesses(state, thread, *edge);
            let earlier = accesses.iter().find_map(|access| order.race(state, thread, access))?;
            Some([(earlier.thread, earlier.edge), (thread, *edge)])
        })
    })
}
