//! Each step of the machine is a step of the transitions: the test follows random executions of random
//! programs, and asks the solver whether there is a step from the state before to the state after. Addresses
//! in stacks and heaps are left open, since these have other numbers here.

use ir::passes::{Goal, InlineLimits, Lowering, lock_words, lower, symbolic_of_lowered};
use ir::semantics::{Choice, Choices, Machine, State};
use ir::{IntType, Program, TemplateId, Value};
use smt::expressions::Mode;
use smt::{Answer, Term};
use testkit::random::Random;
use transitions::{Kind, StateVariable, System};
use verdict::Budget;

/// Small random values for inputs.
struct SmallValues(Random);

impl Choices for SmallValues {
    fn choose(&mut self, choice: Choice) -> Value {
        choice.ty.wrap(Value::from(self.0.below(3)) - 1)
    }
}

/// Where stacks begin: what is at least this may be an address that is another number here.
const STACKS: Value = 0x6000_0000;

/// The value of a variable in a state of the machine, if it is the same here.
fn value(
    system: &System<'_>,
    machine: &Machine<'_>,
    state: &State,
    thread: Option<usize>,
    variable: &StateVariable,
) -> Option<Value> {
    let the_one = |template: TemplateId| state.threads.iter().position(|thread| thread.template == template);
    let ty = variable.ty?;
    let found = match &variable.kind {
        Kind::Cell(object, offset) => {
            if system.program.objects[*object].storage != ir::Storage::Static {
                return None;
            }
            machine.peek_memory(state, machine.addresses.offset[*object] + offset, ty)?
        }
        Kind::Local(local) => {
            let top = state.threads[thread?].activations.last()?;
            ty.wrap(Value::from(top.locals[local.0 as usize]))
        }
        Kind::Myself => thread? as Value + 1,
        Kind::Threads => state.threads.len() as Value,
        Kind::ThreadId(template) => the_one(*template).map_or(0, |thread| thread as Value + 1),
        Kind::Ended(template) => {
            the_one(*template).map_or(0, |thread| Value::from(state.threads[thread].activations.is_empty()))
        }
        Kind::ThreadResult(_) | Kind::Map | Kind::FrameAddress | Kind::HeapEnd => return None,
        Kind::SiteStart(..) | Kind::SiteEnd(..) => return None,
    };
    (ty.bits < 32 || !(STACKS..=Value::from(u64::MAX)).contains(&found) || ty.signed).then_some(found)
}

fn term(system: &System<'_>, value: Value, ty: IntType) -> Term {
    system.number(value, ty)
}

/// How many steps were asked about, and of how many the solver does not know in time.
#[derive(Default)]
struct Followed {
    steps: usize,
    unknown: usize,
}

fn follow(seed: u64, program: &Program, system: &System<'_>, followed: &mut Followed) {
    let machine = Machine::new(program).expect("random programs are small");
    let mut values = SmallValues(Random::new(seed));
    let mut state = machine.initial(&[1]).expect("random programs are small");
    for _ in 0..40 {
        let threads = machine.schedulable(&state);
        let moves: Vec<(usize, ir::EdgeId)> = threads
            .into_iter()
            .flat_map(|thread| machine.edges(&state, thread).iter().map(move |edge| (thread, *edge)))
            .collect();
        if moves.is_empty() {
            break;
        }
        let (thread, edge) = moves[values.0.below(moves.len())];
        let Some((template, _)) = state.location(thread) else { break };
        let Ok(next) = machine.step(&state, thread, edge, &mut values).result else { continue };
        let halts = program.templates[template].locations[program.templates[template].edges[edge].target]
            .kind
            == ir::LocationKind::Halt;
        if halts {
            break;
        }
        let step = system
            .steps
            .iter()
            .find(|step| step.template == template && step.edges == [edge])
            .unwrap_or_else(|| panic!("seed {seed}: no step for {template}:{edge}"));
        let mut facts = vec![step.guard.clone()];
        let own = system.own[template].iter().map(|variable| (Some(thread), variable));
        for (owner, variable) in system.shared.iter().map(|variable| (None, variable)).chain(own) {
            let Some(ty) = variable.ty else { continue };
            let before = value(system, &machine, &state, owner, variable);
            let after = value(system, &machine, &next, owner, variable);
            let here = variable.variable.term();
            if let Some(before) = before {
                facts.push(here.equals(&term(system, before, ty)));
            }
            if let (Some(after), Some(update)) = (after, step.updates.get(&variable.variable)) {
                facts.push(update.equals(&term(system, after, ty)));
            } else if let (Some(before), Some(after)) = (before, after) {
                assert_eq!(before, after, "seed {seed}: {} changes", variable.variable.name);
            }
        }
        let answer = smt::satisfiable(&Term::all(facts), &Budget::steps_for(20.0));
        assert_ne!(answer, Answer::Unsat, "seed {seed}: {template}:{edge} is no step of the transitions");
        state = next;
        followed.steps += 1;
        followed.unknown += usize::from(answer != Answer::Sat);
    }
}

#[test]
fn steps_of_the_machine_are_steps_of_the_transitions() {
    let mut followed = Followed::default();
    for seed in 0..150 {
        let program = testkit::random::random_program(seed);
        let lowering = Lowering { assertions: true, reach_error: true, ..Lowering::default() };
        let lowered = lower(&program, lowering);
        let goal = Goal { races: seed % 2 == 0, faults: false };
        let symbolic = symbolic_of_lowered(&lowered, goal, InlineLimits::default()).expect("small");
        let words = verdict::Analysed::from(lock_words(&symbolic));
        let mode = if seed % 3 == 0 { Mode::Bits } else { Mode::Integers };
        follow(seed, &words, &System::new(&words, mode), &mut followed);
    }
    let Followed { steps, unknown } = followed;
    assert!(steps > 1_000 && unknown * 100 < steps, "{steps} steps were followed, {unknown} are not known");
}
