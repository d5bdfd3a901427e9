//! Steps: whatever the machine does from a state that an environment describes, the abstract step describes the state after it.

use domains::{Lattice, Memory, Number, Numbers, Scope, Variable};
use ir::passes::PointsTo;
use ir::semantics::{Choice, Choices, Machine, State};
use ir::{Expr, IdVec, ObjectId, Place, Program, Storage, Targets, Value};
use testkit::random::{Random, random_program};

/// Values that are chosen at random.
struct Dice(Random);

impl Choices for Dice {
    fn choose(&mut self, choice: Choice) -> Value {
        choice.ty.wrap(self.0.below(5) as Value - 2)
    }
}

/// What a thread's variables are in a state.
fn values(
    machine: &Machine<'_>,
    memory: &Memory<'_>,
    state: &State,
    thread: usize,
) -> Vec<(Variable, Value)> {
    let mut found = Vec::new();
    for (id, cell) in memory.cells().filter(|(_, cell)| cell.strong) {
        let Targets::Of(places) = &cell.region.targets else { continue };
        let place = Place::cell(cell.object, places[0].first, cell.ty);
        if let Ok(value) = machine.peek(state, thread, &Expr::load(place)) {
            found.push((id, value));
        }
    }
    let Some(top) = state.threads[thread].activations.last() else { return found };
    for (local, what) in machine.program.templates[top.template].locals.enumerate() {
        let value = what.ty.wrap(Value::from(top.locals[local.0 as usize]));
        found.push((memory.local(local), value));
    }
    found
}

fn single(program: &Program) -> IdVec<ObjectId, bool> {
    program.objects.iter().map(|object| object.storage == Storage::Static).collect()
}

#[test]
fn a_step_of_the_machine_is_described_by_the_abstract_step() {
    let mut taken = 0;
    for seed in 0..300 {
        let lowering = ir::passes::Lowering { assertions: true, ..ir::passes::Lowering::default() };
        let lowered = ir::passes::concrete(&random_program(seed), lowering);
        let goal = ir::passes::Goal { races: false, faults: false };
        let limits = ir::passes::InlineLimits::default();
        let compressed = ir::passes::symbolic_of_lowered(&lowered, goal, limits).expect("they are small");
        for program in [&lowered, &compressed] {
            // Calls are for others to inline.
            let mut ops = program.templates.iter().flat_map(|code| &code.edges).flat_map(|edge| &edge.ops);
            if ops.any(|op| matches!(op, ir::Op::Call(..))) {
                continue;
            }
            let points_to = PointsTo::of(program);
            let escapes = points_to.escaping(program);
            let memory = Memory::new(program, &points_to, &escapes, single(program));
            let machine = Machine::new(program).expect("they are small");
            let mut random = Random::new(seed);
            let mut dice = Dice(Random::new(seed + 1));
            let mut state = machine.initial(&[1]).expect("they are small");
            for _ in 0..60 {
                let threads = machine.schedulable(&state);
                if threads.is_empty() {
                    break;
                }
                let thread = random.pick(&threads);
                let edges = machine.edges(&state, thread);
                if edges.is_empty() {
                    continue;
                }
                let edge = random.pick(edges);
                let Some((template, _)) = state.location(thread) else { continue };
                let before = values(&machine, &memory, &state, thread);
                let Ok(next) = machine.step(&state, thread, edge, &mut dice).result else { continue };
                taken += 1;
                let slack = random.below(3) as Value;
                let around = |(variable, value): &(Variable, Value)| {
                    let range = Number::between(value - slack, value + slack);
                    let ty = memory.cell(*variable).map(|cell| cell.ty);
                    let ty = ty.unwrap_or_else(|| {
                        let local = variable.0 as usize - memory.count();
                        program.templates[template].locals[ir::LocalId(local as u32)].ty
                    });
                    (*variable, range.meet(&Number::of_type(ty)))
                };
                let environment: Numbers<Variable> = before.iter().map(around).collect();
                let after = Scope::new(&memory, template).after(edge, &[], environment).environment;
                for (variable, value) in values(&machine, &memory, &next, thread) {
                    let known = after.get(variable).copied().unwrap_or(Number::TOP);
                    assert!(
                        !after.is_bottom() && known.contains(value),
                        "seed {seed}: {variable:?} is {value}, not in {known:?}, after {:?}",
                        program.templates[template].edges[edge].ops
                    );
                }
                for (local, value) in Scope::new(&memory, template).equal_after(edge, &[]) {
                    if next.threads[thread].activations.is_empty() {
                        break;
                    }
                    let held = machine.peek(&next, thread, &Expr::Local(local));
                    assert_eq!(held, machine.peek(&next, thread, &value), "seed {seed}: {local} = {value:?}");
                }
                state = next;
            }
        }
    }
    assert!(taken > 2000, "{taken}");
}
