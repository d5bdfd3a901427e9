//! Tests proofs by the product of a fixed set of threads ([`verdict::ProductProof`]).
//!
//! The product omits steps, so not every state of the program belongs to one of its nodes. Executions
//! therefore follow its nodes: at each node, a thread of the persistent set that is not in the sleep set
//! takes a step, if the machine can. The next node must exist, its values and its invariant must hold, and it
//! must not be the error.

use super::formulas::{is_false, value};
use super::random::{Given, Random, Taste, Values};
use super::{EFFORT, Exception, share};
use crate::ProofError;
use indexmap::IndexMap;
use ir::semantics::{Machine, State, ThreadIndex};
use ir::{Count, LocationId};
use smt::Variable;
use transitions::groups::Member;
use transitions::threads::{ThreadStep, Threads};
use transitions::{StateVariable, System};
use verdict::{Budget, ProductNode, ProductPart, ProductProof};

/// Executions of each part.
const EXECUTIONS: u64 = 100;
/// The cost of testing a node, in steps.
const LOOK: u64 = 8;

/// Tests all parts.
pub fn try_claims(
    system: &System<'_>,
    threads: &Threads,
    proof: &ProductProof,
    budget: &Budget,
) -> Result<(), ProofError> {
    let Ok(machine) = Machine::new(system.program) else { return Ok(()) };
    let budget = share(budget);
    let values = Values::new(system.program, &machine.addresses);
    let mut variables: IndexMap<Variable, (Option<usize>, &StateVariable)> =
        system.shared.iter().map(|shared| (shared.variable.clone(), (None, shared))).collect();
    for (number, thread) in threads.threads.iter().enumerate() {
        let member = Member { template: thread.template, position: number };
        let own = system.own[thread.template].iter();
        variables.extend(own.map(|own| (member.own(&own.variable), (Some(number), own))));
    }
    let steps = EFFORT.steps / proof.parts.len().max(1) as u64;
    for part in &proof.parts {
        let product =
            Product { system, threads, part, machine: &machine, values: &values, variables: &variables };
        product.run(steps, &budget)?;
    }
    Ok(())
}

struct Product<'a, 'p> {
    system: &'a System<'p>,
    threads: &'a Threads,
    part: &'a ProductPart,
    machine: &'a Machine<'p>,
    values: &'a Values,
    variables: &'a IndexMap<Variable, (Option<usize>, &'a StateVariable)>,
}

/// An execution along nodes.
struct Along {
    state: State,
    /// The machine's thread for each thread of the product, once it is started.
    who: Vec<Option<ThreadIndex>>,
    node: usize,
    random: Random,
    taste: Taste,
    lines: Vec<String>,
}

impl Product<'_, '_> {
    fn run(&self, steps: u64, budget: &Budget) -> Result<(), ProofError> {
        let mut left = steps;
        for number in 0..EXECUTIONS {
            let taste = if number % 2 == 0 { Taste::Small } else { Taste::Any };
            let Some(mut along) = self.start(Random::new(number), taste) else { return Ok(()) };
            // No execution takes more than a part of all steps.
            let mut own = left.min(steps / 8);
            left -= own;
            while let Some(node) = self.part.nodes.get(along.node) {
                if budget.check(0).is_err() {
                    return Ok(());
                }
                let Some(rest) = own.checked_sub(LOOK) else { break };
                own = rest;
                let next = match self.outside(node, &along) {
                    Some(claim) => Err(claim),
                    None => self.step(node, &mut along),
                };
                match next {
                    Ok(Some(next)) => along.node = next,
                    Ok(None) => break,
                    Err(claim) => {
                        let claim = format!("{claim} at node {}", along.node);
                        let path = along.lines.join(", ");
                        return Err(ProofError::Execution(Box::new(Exception { claim, path, trace: None })));
                    }
                }
            }
            left += own;
            if left < LOOK {
                break;
            }
        }
        Ok(())
    }

    fn start(&self, random: Random, taste: Taste) -> Option<Along> {
        let copies = |(_, count): &(ir::TemplateId, Count)| match count {
            Count::Exactly(copies) => Some(*copies),
            Count::Any => None,
        };
        let copies: Vec<u32> = self.system.program.start.iter().map(copies).collect::<Option<_>>()?;
        let state = self.machine.initial(&copies).ok()?;
        let mut next = 0..state.threads.len();
        let who = self.threads.threads.iter();
        let who = who.map(|thread| thread.at_start.then(|| next.next()).flatten()).collect();
        Some(Along { state, who, node: 0, random, taste, lines: Vec::new() })
    }

    /// A claim of a node that does not hold.
    fn outside(&self, node: &ProductNode, along: &Along) -> Option<String> {
        if node.locations.get(self.part.error.0).copied().flatten() == Some(self.part.error.1) {
            return Some("the error is not reached".to_owned());
        }
        let value_of = |variable: &Variable| {
            let (owner, state_variable) = self.variables.get(variable)?;
            let thread = match owner {
                Some(number) => Some((*along.who.get(*number)?)?),
                None => None,
            };
            value(self.system, self.machine, &along.state, thread, state_variable)
        };
        for (variable, constant) in &node.constants {
            if is_false(&variable.term().equals(constant), &value_of) {
                return Some(format!("{} is {constant}", variable.name));
            }
        }
        let invariant = node.invariant.as_ref()?;
        is_false(invariant, &value_of).then(|| "the invariant holds".to_owned())
    }

    /// Takes a step of the product. Returns the next node; `None` when no thread can move.
    fn step(&self, node: &ProductNode, along: &mut Along) -> Result<Option<usize>, String> {
        let count = self.threads.threads.len();
        let first = along.random.below(count);
        for offset in 0..count {
            let thread = (first + offset) % count;
            let bit = 1u32.checked_shl(thread as u32).unwrap_or(0);
            let Some(at) = node.locations.get(thread).copied().flatten() else { continue };
            if node.awake & bit == 0 || node.sleep & bit != 0 {
                continue;
            }
            let Some(steps) = self.threads.threads[thread].steps.get(at) else { continue };
            let from = along.random.below(steps.len());
            for index in (0..steps.len()).map(|index| (from + index) % steps.len()) {
                if self.take(&steps[index], along) {
                    let named = node.moves.iter().find(|(who, which, _)| (*who, *which) == (thread, index));
                    let target = named.map(|(_, _, target)| *target);
                    let target = target.filter(|target| *target < self.part.nodes.len());
                    return target.map(Some).ok_or_else(|| "each step leads to a node".to_owned());
                }
            }
        }
        Ok(None)
    }

    /// Lets the machine take a step, if it can.
    fn take(&self, step: &ThreadStep, along: &mut Along) -> bool {
        let Some(thread) = along.who.get(step.thread).copied().flatten() else { return false };
        let mut next = along.state.clone();
        let mut at: LocationId = step.source;
        let mut line = 0;
        for edge in &step.edges {
            let Some((template, location)) = next.location(thread) else { return false };
            if location != at || !self.machine.schedulable(&next).contains(&thread) {
                return false;
            }
            let (values, taste, random) = (self.values, along.taste, &mut along.random);
            let mut given = Given { values, taste, random, chosen: Vec::new(), unknown: false };
            if self.machine.advance(&mut next, thread, *edge, &mut given, &mut Vec::new()).is_err() {
                return false;
            }
            let what = &self.system.program.templates[template].edges[*edge];
            (at, line) = (what.target, what.span.line);
        }
        for started in along.state.threads.len()..next.threads.len() {
            let template = next.threads[started].template;
            let all = self.threads.threads.iter();
            let number = all.clone().position(|thread| thread.template == template && !thread.at_start);
            if let Some(who) = number.and_then(|number| along.who.get_mut(number)) {
                *who = Some(started);
            }
        }
        along.state = next;
        along.lines.push(format!("thread {thread} at {line}"));
        true
    }
}
