//! Steps: whatever the machine does from a state that an environment describes, the abstract step describes
//! the state after it.

use domains::{Interval, Lattice, Linear, Memory, Number, Numbers, Octagons, Relational, Scope, Variable};
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

/// Relates variables at random: strong shared cells of all templates, and whatever stands in two packs of
/// each template.
fn relate(memory: &mut Memory<'_>, program: &Program, random: &mut Random) {
    let strong: Vec<Variable> = memory.cells().filter(|(_, cell)| cell.strong).map(|(id, _)| id).collect();
    let shared: Vec<Variable> = strong.iter().copied().filter(|cell| memory.is_shared(*cell)).collect();
    let mut some = |from: &[Variable]| -> Vec<Variable> {
        from.iter().copied().filter(|_| random.once_in(2)).take(5).collect()
    };
    let shared = vec![some(&shared), some(&shared)];
    let of_template = program.templates.iter().map(|code| {
        let locals = code.locals.ids().map(|local| memory.local(local));
        let all: Vec<Variable> = strong.iter().copied().chain(locals).collect();
        vec![some(&all), some(&all)]
    });
    let of_template: Vec<_> = of_template.collect();
    assert!(memory.relate(&shared, &of_template));
}

/// A set of states around one, with relations that hold in it.
fn around(
    scope: &Scope<'_, '_>,
    values: &[(Variable, Value)],
    numbers: Numbers<Variable>,
    slack: Value,
) -> Relational<Variable> {
    let mut state = Relational { numbers, octagons: Octagons::top() };
    let value =
        |variable: Variable| values.iter().find(|(known, _)| *known == variable).map(|(_, value)| *value);
    for pack in scope.packs().ids() {
        let mut octagon = state.octagon(scope.packs(), pack);
        let variables = scope.packs().variables(pack);
        for (x, first) in variables.iter().enumerate() {
            for (y, second) in variables.iter().enumerate().skip(x + 1) {
                if let (Some(a), Some(b)) = (value(*first), value(*second)) {
                    let mut form = Linear::variable(x).subtract(&Linear::variable(y)).expect("it is small");
                    form.constant = Interval::constant(b - a - slack);
                    octagon.guard(&form);
                }
            }
        }
        state.octagons.set(pack, octagon);
    }
    state
}

/// Whether all relations of a state hold for these values.
fn holds(scope: &Scope<'_, '_>, state: &Relational<Variable>, values: &[(Variable, Value)]) -> bool {
    let value =
        |variable: Variable| values.iter().find(|(known, _)| *known == variable).map(|(_, value)| *value);
    !state.is_bottom()
        && state.octagons.iter().all(|(pack, octagon)| {
            octagon.constraints().iter().all(|constraint| {
                let term = |(position, negated): (usize, bool)| {
                    let value = value(scope.packs().variables(pack)[position])?;
                    Some(if negated { -value } else { value })
                };
                let first = term(constraint.first);
                let second = constraint.second.map_or(Some(0), term);
                first.zip(second).is_none_or(|(first, second)| first + second <= constraint.bound)
            })
        })
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
            let mut memory = Memory::new(program, &points_to, &escapes, single(program));
            if seed % 2 == 0 {
                relate(&mut memory, program, &mut Random::new(seed + 2));
            }
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
                let near = |(variable, value): &(Variable, Value)| {
                    let range = Number::between(value - slack, value + slack);
                    let ty = memory.cell(*variable).map(|cell| cell.ty);
                    let ty = ty.unwrap_or_else(|| {
                        let local = variable.0 as usize - memory.count();
                        program.templates[template].locals[ir::LocalId(local as u32)].ty
                    });
                    (*variable, range.meet(&Number::of_type(ty)))
                };
                let environment: Numbers<Variable> = before.iter().map(near).collect();
                let scope = Scope::new(&memory, template);
                let state_before = around(&scope, &before, environment, slack);
                let after = scope.after(edge, &[], state_before.clone());
                let (shifts, after) = (after.shifts, after.environment);
                let found = values(&machine, &memory, &next, thread);
                if !next.threads[thread].activations.is_empty() {
                    assert!(
                        holds(&scope, &after, &found),
                        "seed {seed}: {found:?} not in {after:?}, after {:?} from {before:?} in {state_before:?}",
                        program.templates[template].edges[edge].ops
                    );
                }
                for (variable, value) in found {
                    if let (Some((_, old)), true) =
                        (before.iter().find(|(known, _)| *known == variable), memory.is_shared(variable))
                    {
                        let shift = shifts.get(&variable).copied().unwrap_or(Interval::constant(0));
                        assert!(
                            shift.contains(value - old),
                            "seed {seed}: {variable:?} from {old} to {value}, not by {shift}"
                        );
                    }
                    let known = after.numbers.get(variable).copied().unwrap_or(Number::TOP);
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
