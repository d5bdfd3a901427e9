//! What was learnt from programs, for the next one that is like them.
//!
//! A search by queries checks many programs that differ in a guard or in the forbidden states. Nodes of the
//! same name count as the same place. Two things are kept:
//! * Paths. They are tried first, all in one formula: does one of them reach a forbidden state? Most
//!   violations are old ones with other values.
//! * Facts: the conjuncts of invariants, by node. Those that the new program preserves (Flanagan and Leino:
//!   Houdini, FME 2001) may suffice to exclude the forbidden states.
//!
//! Exact: a path counts if the new program has an execution along it, and facts if all clauses of the new
//! program preserve them. If neither helps, [`check`](crate::check()) runs from scratch.

use crate::check::{Invariants, Outcome, check_encoded};
use crate::encode::Encoding;
use crate::path::{Execution, realise};
use crate::program::{Node, Program};
use indexmap::{IndexMap, IndexSet};
use ir::IdVec;
use smt::horn::{Clause, HornSystem, Interpretation, RelationId};
use smt::visit::conjuncts;
use smt::{Answer, NoAnswer, Solver, Term, Value};
use verdict::Budget;

/// So many steps of paths are tried.
const MOST_STEPS: usize = 120;
/// So many facts are tried at a node.
const MOST_FACTS: usize = 40;
/// After this many queries, the solver is replaced: its learned clauses slow it down.
const QUESTIONS: usize = 400;

/// A step by names: between which nodes, and which of the steps there.
#[derive(Clone, PartialEq, Eq, Debug)]
struct StepName {
    source: String,
    target: String,
    number: usize,
}

/// How the programs of a memory were answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Count {
    /// By a path that was known.
    pub by_path: usize,
    /// By facts that were known.
    pub by_facts: usize,
    /// By the solver for Horn clauses.
    pub from_scratch: usize,
}

/// What was learnt.
#[derive(Default)]
pub struct Memory {
    /// The latest last.
    paths: Vec<Vec<StepName>>,
    facts: IndexMap<String, IndexSet<Term>>,
    solver: Solver,
    asked: usize,
    /// How programs were answered.
    pub count: Count,
}

/// Some paths of a program that start alike: the number of a step, and how it continues.
#[derive(Default)]
struct Tree {
    branches: IndexMap<usize, Tree>,
}

/// A tree followed symbolically.
struct Followed {
    /// Each forbidden thing here, by number: that it is so.
    forbidden: Vec<(usize, Term)>,
    /// The number of the step, that it can be taken and leads to something forbidden, and how it continues.
    branches: Vec<(usize, Term, Followed)>,
    /// That something forbidden is reached from here.
    whole: Term,
}

impl Memory {
    /// Whether something forbidden can be reached.
    pub fn check(&mut self, program: &Program, budget: &Budget) -> Outcome {
        if let Some(found) = self.known_path(program, budget) {
            self.count.by_path += 1;
            return found;
        }
        let encoding = Encoding::new(program, budget);
        let outcome = match self.known_facts(program, &encoding, budget) {
            Some(invariants) => {
                self.count.by_facts += 1;
                return Outcome::Safe(invariants);
            }
            None => check_encoded(program, &encoding, budget),
        };
        self.count.from_scratch += 1;
        match &outcome {
            Outcome::Safe(invariants) => {
                for (node, formula) in invariants.formulas.iter().enumerate() {
                    let Some(formula) = formula.as_ref().filter(|formula| !formula.is_false()) else {
                        continue;
                    };
                    self.suggest(&program.nodes[node], conjuncts(formula));
                }
            }
            Outcome::Unsafe(path) => {
                let named: Vec<StepName> = path.steps.iter().map(|step| name(program, *step)).collect();
                self.paths.retain(|known| *known != named);
                self.paths.push(named);
            }
            Outcome::Unknown(_) => {}
        }
        outcome
    }

    /// Suggests facts that may hold at the nodes of a name.
    pub fn suggest(&mut self, node: &str, facts: impl IntoIterator<Item = Term>) {
        let known = self.facts.entry(node.to_owned()).or_default();
        for fact in facts.into_iter().filter(|fact| !fact.is_true()) {
            // The latest last.
            known.shift_remove(&fact);
            known.insert(fact);
        }
        while known.len() > MOST_FACTS {
            known.shift_remove_index(0);
        }
    }

    fn solver(&mut self) -> &mut Solver {
        self.asked += 1;
        if self.asked.is_multiple_of(QUESTIONS) {
            self.solver = Solver::new();
        }
        &mut self.solver
    }

    /// A known path that leads to something forbidden.
    fn known_path(&mut self, program: &Program, budget: &Budget) -> Option<Outcome> {
        let mut tree = Tree::default();
        let mut size = 0;
        for path in self.paths.iter().rev() {
            let mut here = &mut tree;
            for step in path.iter().map_while(|step| number(program, step)) {
                if size == MOST_STEPS && !here.branches.contains_key(&step) {
                    break;
                }
                here = here.branches.entry(step).or_insert_with(|| {
                    size += 1;
                    Tree::default()
                });
            }
        }
        let followed = follow(program, &tree, program.entry, &Execution::new());
        let ranges = program.variables.values().cloned();
        let question = Term::all([program.initial.clone(), followed.whole.clone()].into_iter().chain(ranges));
        if question.is_false() {
            return None;
        }
        let solver = self.solver();
        solver.push();
        solver.assert(&question);
        let answer = solver.check(budget);
        solver.pop();
        if answer != Answer::Sat {
            return None;
        }
        let mut steps = Vec::new();
        let mut here = &followed;
        loop {
            let mut holds = |formula: &Term| solver.bool_value(formula) == Ok(true);
            if let Some((forbidden, _)) = here.forbidden.iter().find(|(_, formula)| holds(formula)) {
                return realise(program, &steps, *forbidden, budget).ok()?.map(Outcome::Unsafe);
            }
            let (step, _, next) = here.branches.iter().find(|(_, formula, _)| holds(formula))?;
            steps.push(*step);
            here = next;
        }
    }

    /// Invariants that are made of known facts.
    fn known_facts(&mut self, program: &Program, encoding: &Encoding, budget: &Budget) -> Option<Invariants> {
        let system = &encoding.system;
        let mut facts: IdVec<RelationId, Vec<Term>> = system.relations.iter().map(|_| Vec::new()).collect();
        for (node, relation) in &encoding.relations {
            let parameters = &system.relations[*relation].parameters;
            let speaks = |fact: &&Term| fact.free_variables().iter().all(|v| parameters.contains(v));
            let known = self.facts.get(&program.nodes[*node]).into_iter().flatten();
            facts[*relation] = known.filter(speaks).cloned().collect();
        }
        let solver = self.solver();
        if !excludes(system, &facts, solver, budget) {
            return None;
        }
        weaken(system, &mut facts, solver, budget).ok()?;
        if !excludes(system, &facts, solver, budget) {
            return None;
        }
        let formulas = facts.iter().map(|facts| Term::all(facts.iter().cloned())).collect();
        Some(encoding.invariants(program, &Interpretation { formulas }))
    }
}

/// The name of a step.
fn name(program: &Program, step: usize) -> StepName {
    let (source, target) = (program.steps[step].source, program.steps[step].target);
    let alike = program.steps[..step].iter().filter(|other| (other.source, other.target) == (source, target));
    StepName {
        source: program.nodes[source].clone(),
        target: program.nodes[target].clone(),
        number: alike.count(),
    }
}

/// The step of a name.
fn number(program: &Program, name: &StepName) -> Option<usize> {
    let is_named = |node: Node, name: &str| program.nodes[node] == name;
    let alike =
        |step: &crate::Step| is_named(step.source, &name.source) && is_named(step.target, &name.target);
    let numbered = program.steps.iter().enumerate().filter(|(_, step)| alike(step));
    numbered.map(|(number, _)| number).nth(name.number)
}

fn follow(program: &Program, tree: &Tree, node: Node, execution: &Execution) -> Followed {
    let here = program.forbidden.iter().enumerate().filter(|(_, forbidden)| forbidden.node == node);
    let forbidden: Vec<(usize, Term)> =
        here.map(|(number, forbidden)| (number, execution.value(&forbidden.formula))).collect();
    let mut branches = Vec::new();
    for (number, rest) in &tree.branches {
        let step = &program.steps[*number];
        if step.source != node {
            continue;
        }
        let mut next = execution.clone();
        next.step(step);
        let taken = next.conditions.last().cloned().unwrap_or_else(|| Term::bool(true));
        let followed = follow(program, rest, step.target, &next);
        branches.push((*number, taken.and(&followed.whole), followed));
    }
    let ends = forbidden.iter().map(|(_, formula)| formula.clone());
    let whole = Term::any(ends.chain(branches.iter().map(|(_, formula, _)| formula.clone())));
    Followed { forbidden, branches, whole }
}

type Facts = IdVec<RelationId, Vec<Term>>;

/// The facts of a relation for the arguments of an application.
fn instance(system: &HornSystem, relation: RelationId, arguments: &[Term], facts: &[Term]) -> Vec<Term> {
    let parameters = system.relations[relation].parameters.iter().cloned();
    let replace = parameters.zip(arguments.iter().cloned()).collect();
    facts.iter().map(|fact| fact.substitute(&replace)).collect()
}

/// What holds where a clause is used.
fn premises(system: &HornSystem, clause: &Clause, facts: &Facts) -> Term {
    let body = clause
        .body
        .iter()
        .flat_map(|premise| instance(system, premise.relation, &premise.arguments, &facts[premise.relation]));
    Term::all(body.chain([clause.constraint.clone()]))
}

/// Whether facts exclude everything forbidden.
fn excludes(system: &HornSystem, facts: &Facts, solver: &mut Solver, budget: &Budget) -> bool {
    system.clauses.iter().filter(|clause| clause.head.is_none()).all(|clause| {
        solver.push();
        solver.assert(&premises(system, clause, facts));
        let answer = solver.check(budget);
        solver.pop();
        answer == Answer::Unsat
    })
}

/// Leaves out facts until all clauses keep them.
fn weaken(
    system: &HornSystem,
    facts: &mut Facts,
    solver: &mut Solver,
    budget: &Budget,
) -> Result<(), NoAnswer> {
    loop {
        let mut changed = false;
        for clause in &system.clauses {
            let Some(head) = &clause.head else { continue };
            solver.push();
            solver.assert(&premises(system, clause, facts));
            while !facts[head.relation].is_empty() {
                let after = instance(system, head.relation, &head.arguments, &facts[head.relation]);
                match solver.check_assuming(&[Term::all(after.iter().cloned()).not()], budget) {
                    Answer::Unsat => break,
                    Answer::Unknown(why) => {
                        solver.pop();
                        return Err(why);
                    }
                    Answer::Sat => {}
                }
                let mut holds = after.iter().map(|fact| solver.value(fact) == Ok(Value::Bool(true)));
                facts[head.relation].retain(|_| holds.next().unwrap_or(false));
                changed = true;
            }
            solver.pop();
        }
        if !changed {
            return Ok(());
        }
    }
}
