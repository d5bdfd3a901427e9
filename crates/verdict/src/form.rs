//! The form of evidence: the conditions on it that do not depend on the program.
//!
//! Every rule of the checker may rely on this form, so it is checked before any rule runs, for evidence from
//! files and from engines alike. Formulas are Boolean; constants are literals of their variables' sorts;
//! ordered lists are sorted and have no duplicates; bits are those of existing threads; numbers that refer to
//! other parts of the evidence are in range. Each rule checks on its own that names are those of the program,
//! since only the rule knows which names it allows.

use crate::{
    AbstractionProof, Acfa, Bounds, Composition, Conformance, ContextProof, DataProof, Evidence, Fact,
    FlowProof, Literal, ModularProof, Moment, Predicate, PredicateRelation, ProductNode, ProductPart,
    ProductProof, Proof, QueriesClaim, QueriesPart, QueriesProof, SpecProof, StatesProof, SummariesProof,
    Trace, Violation,
};
use ir::specification::Specification;
use std::collections::BTreeSet;
use std::fmt;
use terms::{Sort, Term};

/// A violation of the form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IllFormed {
    /// Its path: fields and positions.
    pub at: String,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for IllFormed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.at.is_empty() { f.write_str(&self.what) } else { write!(f, "{}: {}", self.at, self.what) }
    }
}

impl std::error::Error for IllFormed {}

/// The result of a check.
type Form = Result<(), IllFormed>;

/// The largest size of a group of threads in a modular proof.
pub const LARGEST_GROUP: usize = 4;
/// The most threads of a product: sets of them are bits.
const MOST_THREADS: usize = 32;
/// The greatest absolute value of a number in a data invariant or a fact about locals, so that sums and
/// products of a few of them stay exact.
pub const LARGEST_NUMBER: i128 = 1 << 70;

/// Adds to an error where it is.
trait Within {
    /// Adds to an error the part that it is in.
    fn within(self, part: fmt::Arguments<'_>) -> Self;
}

impl Within for Form {
    fn within(self, part: fmt::Arguments<'_>) -> Self {
        self.map_err(|mut wrong| {
            let dot = if wrong.at.is_empty() || wrong.at.starts_with('[') { "" } else { "." };
            wrong.at = format!("{part}{dot}{}", wrong.at);
            wrong
        })
    }
}

fn require(holds: bool, what: &str) -> Form {
    if holds { Ok(()) } else { Err(IllFormed { at: String::new(), what: what.to_owned() }) }
}

/// Checks each element of a list.
fn each<T>(list: &[T], name: &str, mut form: impl FnMut(&T) -> Form) -> Form {
    list.iter().enumerate().try_for_each(|(number, one)| form(one).within(format_args!("{name}[{number}]")))
}

fn formula(term: &Term) -> Form {
    match term.sort() {
        Sort::Bool => Ok(()),
        other => {
            let what = format!("a formula of sort {other}, which must be of sort {}", Sort::Bool);
            Err(IllFormed { at: String::new(), what })
        }
    }
}

fn formulas(list: &[Option<Term>], name: &str) -> Form {
    each(list, name, |term| term.as_ref().map_or(Ok(()), formula))
}

fn rising<T: Ord>(list: &[T], name: &str) -> Form {
    require(list.is_sorted_by(|one, next| one < next), "it is not in rising order, each once")
        .within(format_args!("{name}"))
}

fn once<T: Ord>(list: impl IntoIterator<Item = T>, name: &str) -> Form {
    let mut seen = BTreeSet::new();
    require(list.into_iter().all(|one| seen.insert(one)), "something is there twice")
        .within(format_args!("{name}"))
}

impl Evidence {
    /// Checks the form of evidence.
    pub fn check_form(&self) -> Form {
        match self {
            Self::Proof(proof) => proof.check_form(),
            Self::Trace(trace) => of_trace(trace).within(format_args!("Trace")),
        }
    }
}

impl Proof {
    /// Checks the form of a proof.
    pub fn check_form(&self) -> Form {
        match self {
            Self::Exhaustive { .. } | Self::NoErrorLocation | Self::OneThread => Ok(()),
            Self::Flow(proof) => of_flow(proof).within(format_args!("Flow")),
            Self::States(proof) => of_states(proof).within(format_args!("States")),
            Self::Abstraction(proof) => of_abstraction(proof).within(format_args!("Abstraction")),
            Self::Product(proof) => of_product(proof).within(format_args!("Product")),
            Self::Modular(proof) => of_modular(proof).within(format_args!("Modular")),
            Self::Queries(proof) => of_queries(proof).within(format_args!("Queries")),
            Self::Context(proof) => of_context(proof).within(format_args!("Context")),
            Self::Runs(proof) => proof
                .races
                .check_form()
                .within(format_args!("races"))
                .and_then(|()| proof.errors.check_form().within(format_args!("errors")))
                .within(format_args!("Runs")),
            Self::Spec(proof) => of_spec(proof).within(format_args!("Spec")),
            Self::LockOrder(locks) => once(locks, "LockOrder"),
            Self::Summaries(proof) => proof.check_form(),
            Self::Owned(proof) => {
                let is_nested = matches!(proof.rest, Proof::Owned(_));
                require(!is_nested, "ownership is looked at once")
                    .and_then(|()| proof.rest.check_form())
                    .within(format_args!("rest"))
                    .within(format_args!("Owned"))
            }
        }
    }
}

impl SummariesProof {
    /// Checks the form of the proof.
    pub fn check_form(&self) -> Form {
        of_summaries(self).within(format_args!("Summaries"))
    }
}

fn of_trace(trace: &Trace) -> Form {
    match &trace.violation {
        Violation::Error { .. } => Ok(()),
        Violation::Race([one, other]) => {
            require(one.0 != other.0, "a race is one of two threads").within(format_args!("violation"))
        }
        Violation::Deadlock(threads) => once(threads, "violation"),
        Violation::Leak => Ok(()),
    }
}

fn of_flow(proof: &FlowProof) -> Form {
    rising(&proof.unique, "unique")?;
    once(&proof.given, "given")?;
    each(&proof.facts, "facts", |template| {
        each(template, "", |facts| {
            once(&facts.fresh, "fresh")?;
            once(&facts.unspent, "unspent")
        })
    })?;
    let nodes = proof.reachable.len();
    let locations: usize = proof.facts.iter().map(Vec::len).sum();
    require(locations == nodes, "there is not a bit for each location").within(format_args!("reachable"))?;
    require(proof.coreachable.bound() == nodes, "there is not a bit for each two locations")
        .within(format_args!("coreachable"))?;
    each(&proof.families, "families", |family| {
        each(&family.at, "at", |facts| {
            let members = facts.members.iter();
            let bounds = members.flat_map(|members| members.above.iter().chain(&members.below));
            let small = |bound: &crate::Bound| bound.plus.unsigned_abs() <= LARGEST_NUMBER.unsigned_abs();
            require(bounds.into_iter().all(small), "a number that is too large")
        })
    })?;
    match &proof.data {
        Some(data) => of_data(data, nodes).within(format_args!("data")),
        None => Ok(()),
    }
}

fn of_data(data: &DataProof, nodes: usize) -> Form {
    for (name, length) in [
        ("invariants", data.invariants.len()),
        ("copies", data.copies.len()),
        ("relations", data.relations.len()),
    ] {
        require(length == nodes, "there is not one for each location").within(format_args!("{name}"))?;
    }
    each(&data.invariants, "invariants", |known| {
        let Some(known) = known else { return Ok(()) };
        rising(&known.iter().map(|(variable, _)| *variable).collect::<Vec<_>>(), "")?;
        each(known, "", |(_, bounds)| of_bounds(bounds))
    })?;
    each(&data.packs.shared, "packs.shared", |pack| rising(pack, ""))?;
    each(&data.packs.of_template, "packs.of_template", |packs| each(packs, "", |pack| rising(pack, "")))?;
    each(&data.relations, "relations", |relations| {
        each(relations, "", |relation| {
            require(relation.first.0 != relation.second.0, "a variable is related to itself")?;
            require(is_small(relation.bound), "a number that is too large")
        })
    })?;
    each(&data.flows, "flows", |flows| {
        for reach in std::iter::once(&flows.first).chain(flows.definitions.iter().map(|(_, _, reach)| reach))
        {
            let fits = reach.alone.len() == nodes && reach.pairs.bound() == nodes;
            require(fits, "there is not a bit for each location")?;
        }
        once(flows.definitions.iter().map(|(template, edge, _)| (template, edge)), "definitions")
    })
}

fn is_small(number: i128) -> bool {
    number.unsigned_abs() <= LARGEST_NUMBER.unsigned_abs()
}

fn of_bounds(bounds: &Bounds) -> Form {
    let numbers = bounds.lower.iter().chain(&bounds.upper).chain([&bounds.modulus, &bounds.rest]);
    require({ numbers }.all(|number| is_small(*number)), "a number that is too large")?;
    let rest = match bounds.modulus {
        0 => true,
        modulus => modulus > 0 && (0..modulus).contains(&bounds.rest),
    };
    require(rest, "a rest that is none of its modulus")
}

fn of_states(proof: &StatesProof) -> Form {
    let numbers = proof.tests.len().saturating_add(2);
    for (position, (_, low, high)) in proof.tests.iter().enumerate() {
        let earlier = position + 2;
        require(
            (*low as usize) < earlier && (*high as usize) < earlier,
            "a test uses one that does not come before it",
        )
        .within(format_args!("tests[{position}]"))?;
    }
    each(&proof.sets, "sets", |set| require((*set as usize) < numbers, "there is no such test"))?;
    each(&proof.unreachable, "unreachable", |configuration| {
        let threads = &configuration.threads;
        require(!threads.is_empty() && threads.is_sorted(), "its threads are not in order")
    })?;
    each(&proof.populations, "populations", |population| {
        rising(&population.threads.iter().map(|(thread, _)| *thread).collect::<Vec<_>>(), "threads")
    })
}

fn of_abstraction(proof: &AbstractionProof) -> Form {
    let count = proof.predicates.len();
    each(&proof.predicates, "predicates", of_predicate)?;
    require(proof.initial.len() == count, "there is not a value for each predicate")
        .within(format_args!("initial"))?;
    let exists = |fact: &Fact| require(fact.predicate < count, "there is no such predicate");
    each(&proof.start, "start", |clause| {
        each(clause, "", |one| {
            exists(&one.fact)?;
            require(one.fact.moment == Moment::Before, "it is not about the start")
        })
    })?;
    let literals = |list: &Vec<Literal>| each(list, "", |one| exists(&one.fact));
    let relation = |relation: &PredicateRelation| {
        each(&relation.functions, "functions", |(fact, cubes)| {
            exists(fact)?;
            each(cubes, "", literals)
        })?;
        once(relation.functions.iter().map(|(fact, _)| fact), "functions")?;
        each(&relation.clauses, "clauses", literals)
    };
    each(&proof.steps, "steps", |step| {
        relation(&step.own).within(format_args!("own"))?;
        each(&step.others, "others", |(_, theirs)| relation(theirs))?;
        once(step.others.iter().map(|(template, _)| template), "others")
    })?;
    let is_about_bits = match &proof.inner {
        Proof::States(_) | Proof::NoErrorLocation | Proof::Exhaustive { .. } => true,
        Proof::OneThread | Proof::Flow(_) | Proof::Abstraction(_) | Proof::Product(_) => false,
        Proof::LockOrder(_) => false,
        Proof::Modular(_) | Proof::Queries(_) | Proof::Context(_) | Proof::Runs(_) | Proof::Spec(_) => false,
        Proof::Summaries(_) | Proof::Owned(_) => false,
    };
    require(is_about_bits, "a Boolean program is proved by thread states").within(format_args!("inner"))?;
    proof.inner.check_form().within(format_args!("inner"))
}

fn of_predicate(predicate: &Predicate) -> Form {
    formula(&predicate.formula)
}

fn of_product(proof: &ProductProof) -> Form {
    each(&proof.parts, "parts", of_product_part)?;
    once(proof.parts.iter().map(|part| part.error), "parts")
}

fn of_product_part(part: &ProductPart) -> Form {
    let threads = part.nodes.first().map_or(0, |node| node.locations.len());
    require((1..=MOST_THREADS).contains(&threads), "there is a node with a place for each thread")?;
    require(part.error.0 < threads, "there is no such thread").within(format_args!("error"))?;
    each(&part.ends, "ends", |thread| require(*thread < threads, "there is no such thread"))?;
    once(&part.ends, "ends")?;
    each(&part.nodes, "nodes", |node| of_product_node(node, threads, part.nodes.len()))
}

fn of_product_node(node: &ProductNode, threads: usize, nodes: usize) -> Form {
    require(node.locations.len() == threads, "there is not a place for each thread")
        .within(format_args!("locations"))?;
    let there = node.locations.iter().enumerate().filter(|(_, at)| at.is_some());
    let there = there.fold(0u32, |bits, (thread, _)| bits | 1 << thread);
    for (name, bits) in [("sleep", node.sleep), ("awake", node.awake)] {
        require(bits & !there == 0, "a thread that is not running").within(format_args!("{name}"))?;
    }
    require(node.first < threads, "there is no such thread").within(format_args!("first"))?;
    each(&node.moves, "moves", |(thread, _, target)| {
        require(node.locations.get(*thread).is_some_and(Option::is_some), "a thread that is not running")?;
        require(*target < nodes, "there is no such node")
    })?;
    once(node.moves.iter().map(|(thread, step, _)| (thread, step)), "moves")?;
    each(&node.constants, "constants", |(variable, value)| {
        require(value.is_literal(), "a constant is a number or a truth value")?;
        require(*value.sort() == variable.sort, "a constant of another sort than its variable")
    })?;
    once(node.constants.iter().map(|(variable, _)| variable), "constants")?;
    node.invariant.as_ref().map_or(Ok(()), formula).within(format_args!("invariant"))
}

fn of_modular(proof: &ModularProof) -> Form {
    require((1..=LARGEST_GROUP).contains(&proof.size), "groups have one to four threads")
        .within(format_args!("size"))?;
    each(&proof.invariants, "invariants", |(templates, invariant)| {
        let fits = !templates.is_empty() && templates.len() <= proof.size && templates.is_sorted();
        require(fits, "the templates of a group are in rising order, and no more than its size")?;
        formula(invariant)
    })?;
    once(proof.invariants.iter().map(|(templates, _)| templates), "invariants")?;
    once(&proof.passed, "passed")
}

fn of_queries(proof: &QueriesProof) -> Form {
    each(&proof.parts, "parts", of_queries_part)
}

fn of_queries_part(part: &QueriesPart) -> Form {
    require(!part.order.is_empty(), "there is a main thread").within(format_args!("order"))?;
    once(&part.order, "order")?;
    each(&part.errors, "errors", |(thread, _)| {
        require(part.order.contains(thread), "a thread that is not in the order")
    })?;
    once(&part.errors, "errors")?;
    let places = |places: &crate::queries::Places, name: &str| {
        formulas(&places.at, "at")
            .and_then(|()| formulas(std::slice::from_ref(&places.before_start), "before_start"))
            .within(format_args!("{name}"))
    };
    places(&part.main, "main")?;
    let about_nobody = part.claims.iter().skip(part.order.len() - 1);
    require({ about_nobody }.all(Vec::is_empty), "claims about no thread").within(format_args!("claims"))?;
    each(&part.claims, "claims", |claims| {
        each(claims, "", |claim: &QueriesClaim| {
            formula(&claim.before).within(format_args!("before"))?;
            formula(&claim.after).within(format_args!("after"))?;
            places(&claim.reachable, "reachable")?;
            places(&claim.moving, "moving")
        })
    })
}

fn of_context(proof: &ContextProof) -> Form {
    each(&proof.predicates, "predicates", of_predicate)?;
    for (template, acfa) in proof.acfas.iter().enumerate() {
        of_acfa(acfa).within(format_args!("acfas[{template}]"))?;
    }
    let is_state = |template: ir::TemplateId, state| {
        proof.acfas.get(template).is_some_and(|acfa| acfa.states.get(state).is_some())
    };
    each(&proof.nodes, "nodes", |node| {
        require(is_state(node.template, node.state), "there is no such state")?;
        formula(&node.formula)
    })?;
    each(&proof.edges, "edges", |edge| {
        let nodes = proof.nodes.len();
        require(edge.from < nodes && edge.to < nodes, "there is no such node")
    })?;
    each(&proof.views, "views", |view| {
        require(view.node < proof.nodes.len(), "there is no such node")?;
        let spots: Vec<_> = view.others.iter().map(|(spot, _)| *spot).collect();
        rising(&spots, "others")?;
        require({ spots }.into_iter().all(|(template, state)| is_state(template, state)), "no such state")?;
        formula(&view.formula)
    })
}

fn of_acfa(acfa: &Acfa) -> Form {
    require(acfa.is_well_formed(), "its edges are in order, and lead from state to state")?;
    for (number, state) in acfa.states.iter().enumerate() {
        formula(&state.label).within(format_args!("states[{number}]"))?;
    }
    each(&acfa.edges, "edges", |edge| {
        formula(&edge.action.guard)?;
        formula(&edge.action.after)
    })
}

fn of_spec(proof: &SpecProof) -> Form {
    of_specification(&proof.specification).within(format_args!("specification"))?;
    each(&proof.threads, "threads", |said: &Conformance| {
        for (name, list) in [
            ("alone", &said.alone),
            ("starting", &said.starting),
            ("outside", &said.outside),
            ("inside", &said.inside),
        ] {
            formulas(list, name)?;
        }
        Ok(())
    })?;
    once(proof.threads.iter().map(|said| said.template), "threads")?;
    match &proof.composition {
        Composition::Counting(invariant) => formula(invariant),
        Composition::Program(inner) => inner.check_form(),
    }
    .within(format_args!("composition"))
}

fn of_summaries(proof: &SummariesProof) -> Form {
    rising(&proof.once, "once")?;
    rising(&proof.private, "private")?;
    rising(&proof.handles, "handles")?;
    rising(&proof.distinct, "distinct")?;
    once(proof.distinct.iter().map(|(kind, _)| kind), "distinct")?;
    once(&proof.cells, "cells")?;
    rising(&proof.alone, "alone")?;
    rising(&proof.teams, "teams")?;
    once(proof.teams.iter().map(|team| team.helper), "teams")?;
    each(&proof.teams, "teams", |team| rising(&team.objects, "objects"))?;
    each(&proof.contexts, "contexts", |context| {
        rising(&context.calls, "calls")?;
        once(context.calls.iter().map(|(edge, callee, _)| (edge, callee)), "calls")?;
        each(&context.calls, "calls", |(_, _, callee)| {
            require((*callee as usize) < proof.contexts.len(), "there is no such context")
        })?;
        rising(&context.releases, "releases")?;
        rising(&context.starts, "starts")?;
        rising(&context.stores, "stores")?;
        rising(&context.writes, "writes")?;
        each(&context.writes, "writes", |cell| {
            require((*cell as usize) < proof.cells.len(), "there is no such cell")
        })?;
        each(&context.facts, "facts", |facts| {
            let Some(facts) = facts else { return Ok(()) };
            once(&facts.equal, "equal")?;
            rising(&facts.ids, "ids")?;
            rising(&facts.set, "set")?;
            each(&facts.set, "set", |handle| {
                require((*handle as usize) < proof.handles.len(), "there is no such handle")
            })?;
            rising(&facts.locks, "locks")?;
            rising(&facts.absent, "absent")?;
            rising(&facts.fresh, "fresh")?;
            rising(&facts.argument, "argument")?;
            rising(&facts.numbers, "numbers")?;
            once(facts.numbers.iter().map(|(local, _)| local), "numbers")?;
            rising(&facts.order, "order")?;
            rising(&facts.placed, "placed")?;
            once(facts.placed.iter().map(|(local, _, _)| local), "placed")?;
            once(facts.started.iter().map(|started| (started.kind, started.own)), "started")?;
            rising(&facts.started, "started")?;
            rising(&facts.words, "words")
        })
    })
}

/// Names are words. Derived names contain a space, so a name of a specification never equals a derived one.
fn is_word(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|letter| !letter.is_whitespace() && !letter.is_control())
}

fn of_specification(specification: &Specification) -> Form {
    each(&specification.variables, "variables", |variable| {
        require(is_word(&variable.name), "a name is one word")?;
        let end = variable.offset.checked_add(variable.ty.bytes());
        require(end.is_some_and(|end| end <= ir::check::MAX_OBJECT_BYTES), "no object is so large")
    })?;
    once(specification.variables.iter().map(|variable| &variable.name), "variables")?;
    each(&specification.threads, "threads", |thread| {
        require(is_word(&thread.name) && is_word(&thread.function), "a name is one word")?;
        let states = thread.states.len();
        each(&thread.states, "states", |state| require(is_word(&state.name), "a name is one word"))?;
        once(thread.states.iter().map(|state| &state.name), "states")?;
        each(&thread.initial, "initial", |state| require(*state < states, "there is no such state"))?;
        once(&thread.initial, "initial")?;
        require(!thread.initial.is_empty(), "a thread starts in some state")
            .within(format_args!("initial"))?;
        each(&thread.transitions, "transitions", |transition| {
            let fits = transition.source < states && transition.target < states;
            require(fits, "there is no such state")?;
            let variables = specification.variables.len();
            each(&transition.changes, "changes", |one| require(*one < variables, "there is no such variable"))
        })
    })?;
    once(specification.threads.iter().map(|thread| &thread.name), "threads")?;
    once(specification.threads.iter().map(|thread| &thread.function), "threads")
}
