//! Proofs for everything: for each kind, some proofs that claim whatever would suffice, without a reason.
//!
//! They are well-formed for the program (with the locations, threads and steps that the rule expects), so the
//! rule must refuse them, not the form check: no location is reached, every formula is false, every lock is
//! held everywhere, no two threads exist at once, nothing is shared. None may be accepted for a broken
//! program.

use super::{Fate, Try, check_text, corpus, kind_of, written};
use boolean::{Recursion, View};
use ir::passes::{Goal, InlineLimits, symbolic_of_lowered};
use ir::specification::{Specification, Thread};
use ir::{Count, Expr, IdVec, LocationId, LocationKind, ObjectId, Program, Storage, TemplateId};
use smt::expressions::Mode;
use std::collections::BTreeSet;
use std::path::Path;
use terms::{Symbol, Term};
use transitions::threads::Threads;
use transitions::{Scoped, System, prepare, prepare_whole};
use verdict::queries::Places;
use verdict::{
    AbstractId, AbstractState, AbstractionProof, Acfa, Budget, Check, Composition, Conformance, ContextNode,
    ContextProof, ContextView, DataProof, FlowProof, HeldLock, LocationFacts, LockBase, LockFact,
    ModularProof, OwnedProof, Pairs, PredicateRelation, ProcedureContext, ProductNode, ProductPart,
    ProductProof, Proof, QueriesClaim, QueriesPart, QueriesProof, RunsProof, SpecProof, Started, StatesProof,
    StepAbstraction, SummariesProof, Team, ThreadFacts, VariablePacks, Views, Word,
};

/// Tries all of them on the checks that do not hold of the program of a file; says what became of each.
pub fn try_file(
    path: &Path,
    seconds: f64,
    mut report: impl FnMut(&Try, Check, &Program),
) -> Vec<(String, Fate)> {
    let mut found = Vec::new();
    for (check, program) in corpus::violated(path) {
        for proof in proofs(&program, check) {
            let kind = kind_of(&proof);
            let Some(file) = written(check, &proof) else { continue };
            let text = file.to_string();
            let fate = check_text(&text, &program, check, seconds);
            if matches!(fate, Fate::Accepted | Fate::Outside | Fate::Crashed(_)) {
                report(&Try { text, program: 0, fate: fate.clone() }, check, &program);
            }
            found.push((kind, fate));
        }
    }
    found
}

/// All of them for a lowered program.
pub fn proofs(program: &Views, check: Check) -> Vec<Proof> {
    let races = check == Check::Races;
    let mut found = vec![Proof::NoErrorLocation, Proof::OneThread, Proof::LockOrder(Vec::new())];
    for is_known in [true, false] {
        let nothing = |code: &ir::Template| vec![is_known.then(Vec::new); code.locations.len()];
        let claims = program.templates.iter().map(nothing).collect();
        found.push(Proof::Owned(Box::new(OwnedProof { claims, rest: Proof::NoErrorLocation })));
    }
    found.push(Proof::LockOrder(static_objects(program).map(|object| (object, 0)).collect()));
    let copies = |count: &Count| match count {
        Count::Exactly(copies) => *copies,
        Count::Any => 1,
    };
    found.push(Proof::Exhaustive {
        copies: program.start.iter().map(|(_, count)| copies(count)).collect(),
        states: 0,
    });
    found.extend(states(program));
    found.extend(summaries(program));
    let flows = flows(program, races);
    if check != Check::Races && check != Check::Deadlock {
        let all_races = self::flows(program, true);
        for proof in all_races.iter().take(3) {
            for errors in flows.iter().take(2).chain([&Proof::NoErrorLocation]) {
                let (races, errors) = (proof.clone(), errors.clone());
                found.push(Proof::Runs(Box::new(RunsProof { races, errors })));
            }
        }
    }
    found.extend(flows);
    found.extend(of_transitions(program, races));
    found.extend(specifications(program));
    found
}

fn static_objects(program: &Program) -> impl Iterator<Item = ObjectId> + '_ {
    let objects = program.objects.enumerate();
    objects.filter(|(_, object)| object.storage == Storage::Static).map(|(id, _)| id)
}

/// Nobody is in any thread state.
fn states(program: &Program) -> Vec<Proof> {
    let mut lengths = vec![0];
    for recursion in [Recursion::Approximated, Recursion::Unfolded(2)] {
        if let Ok(view) = View::new(program, recursion, &Budget::steps_for(1.0)) {
            lengths.extend([view.points.len(), view.cuts().count()]);
        }
    }
    lengths.sort_unstable();
    lengths.dedup();
    let all = lengths.into_iter().flat_map(|length| [(length, None), (length, Some(2))]);
    let of = |(length, depth)| StatesProof { sets: vec![0; length], depth, ..StatesProof::default() };
    all.map(|one| Proof::States(Box::new(of(one)))).collect()
}

/// Procedures that are never entered, or in which all is known.
fn summaries(program: &Program) -> Vec<Proof> {
    let templates: Vec<TemplateId> = program.templates.ids().collect();
    let locks: Vec<LockFact> = static_objects(program)
        .map(|object| LockFact { base: LockBase::Object(object), offset: 0, shared: false })
        .collect();
    let none_started: Vec<Started> =
        templates.iter().map(|kind| Started { kind: *kind, own: false, members: Vec::new() }).collect();
    let none_of_mine: Vec<Started> =
        templates.iter().map(|kind| Started { kind: *kind, own: true, members: Vec::new() }).collect();
    let knows = |template: TemplateId| {
        let locals: Vec<_> = program.templates[template].locals.ids().collect();
        let none = ThreadFacts::default();
        let bits = program.data_model.pointer().bits;
        let wide = locals.iter().filter(|local| program.templates[template].locals[**local].ty.bits == bits);
        let wide: Vec<_> = wide.copied().collect();
        let of_object =
            |base: LockBase| wide.iter().map(move |local| Word { base, offset: 0, local: *local, plus: 0 });
        let words: Vec<Word> = locks.iter().flat_map(|lock| of_object(lock.base)).collect();
        [
            None,
            Some(none.clone()),
            Some(ThreadFacts { absent: templates.clone(), ..none.clone() }),
            Some(ThreadFacts { locks: locks.clone(), ..none.clone() }),
            Some(ThreadFacts { fresh: locals.clone(), ..none.clone() }),
            Some(ThreadFacts { started: none_started.clone(), ..none.clone() }),
            Some(ThreadFacts { started: none_of_mine.clone(), ..none.clone() }),
            Some(ThreadFacts { argument: locals.iter().map(|local| (*local, 0)).collect(), ..none.clone() }),
            Some(ThreadFacts { numbers: locals.iter().map(|local| (*local, 0)).collect(), ..none.clone() }),
            Some(ThreadFacts { words: words.clone(), locks: locks.clone(), ..none.clone() }),
            Some(ThreadFacts { absent: templates.clone(), locks: locks.clone(), fresh: locals, ..none }),
        ]
    };
    let first = program.start.first().map_or(TemplateId(0), |(template, _)| *template);
    let mut found = Vec::new();
    for number in 0..11 {
        for everywhere in [false, true] {
            // A context for each template as its own thread, and one as part of the first thread.
            let kinds =
                |template: TemplateId| if template == first { vec![first] } else { vec![template, first] };
            let mut contexts = Vec::new();
            for template in &templates {
                for kind in kinds(*template) {
                    let code = &program.templates[*template];
                    let facts = knows(*template)[number].clone();
                    contexts.push(ProcedureContext {
                        template: *template,
                        kind,
                        facts: vec![facts; code.locations.len()],
                        calls: Vec::new(),
                        releases: Vec::new(),
                        starts: Vec::new(),
                        stores: Vec::new(),
                        writes: Vec::new(),
                    });
                }
            }
            with_calls(program, &mut contexts);
            let mut proof = SummariesProof { contexts, ..SummariesProof::default() };
            let of_threads =
                program.objects.enumerate().filter(|(_, object)| object.storage != Storage::Static);
            let of_threads: Vec<ObjectId> = of_threads.map(|(id, _)| id).collect();
            if everywhere {
                proof.once.clone_from(&templates);
                proof.distinct = templates.iter().map(|kind| (*kind, 1 << 20)).collect();
                proof.alone.clone_from(&templates);
                proof.private = of_threads;
            } else {
                let team = |helper: &TemplateId| Team {
                    helper: *helper,
                    objects: of_threads.clone(),
                    apart: 1 << 20,
                    alone: true,
                };
                proof.teams = templates.iter().map(team).collect();
            }
            found.push(Proof::Summaries(Box::new(proof)));
        }
    }
    found
}

/// Gives each call of a known procedure a context of its kind.
fn with_calls(program: &Program, contexts: &mut [ProcedureContext]) {
    let known: Vec<(TemplateId, TemplateId)> =
        contexts.iter().map(|context| (context.template, context.kind)).collect();
    for context in contexts {
        for (edge, what) in program.templates[context.template].edges.enumerate() {
            for op in &what.ops {
                let ir::Op::Call(ir::Callee::Procedure(callee), ..) = op else { continue };
                let at = known.iter().position(|one| *one == (*callee, context.kind));
                let at = at.or_else(|| known.iter().position(|one| one.0 == *callee));
                context.calls.extend(at.map(|at| (edge, *callee, at as u32)));
            }
        }
    }
}

/// What each thread knows, and where two may be.
fn flows(program: &Program, races: bool) -> Vec<Proof> {
    let goal = Goal { races, faults: false };
    let Ok(symbolic) = symbolic_of_lowered(program, goal, InlineLimits::default()) else { return Vec::new() };
    let lengths: Vec<usize> = symbolic.templates.iter().map(|code| code.locations.len()).collect();
    let all: usize = lengths.iter().sum();
    let templates: Vec<TemplateId> = symbolic.templates.ids().collect();
    let facts_of =
        |facts: &LocationFacts| lengths.iter().map(|length| vec![facts.clone(); *length]).collect();
    let locks = static_objects(&symbolic)
        .map(|object| HeldLock { base: Expr::Address(object, 0), offset: 0, shared: false })
        .collect();
    let nothing = FlowProof {
        unique: Vec::new(),
        facts: facts_of(&LocationFacts::default()),
        reachable: vec![false; all],
        coreachable: Pairs::new(all),
        given: Vec::new(),
        families: Vec::new(),
        counters: Vec::new(),
        data: None,
    };
    let no_data = DataProof {
        invariants: vec![None; all],
        copies: vec![Vec::new(); all],
        packs: VariablePacks { of_template: vec![Vec::new(); templates.len()], ..VariablePacks::default() },
        relations: vec![Vec::new(); all],
        flows: Vec::new(),
    };
    let mut paired = Pairs::new(all);
    (0..all).for_each(|a| {
        (0..all).for_each(|b| {
            paired.insert(a, b);
        })
    });
    let held = LocationFacts { locks, ..LocationFacts::default() };
    let everywhere = FlowProof { reachable: vec![true; all], ..nothing.clone() };
    // Errors are never reached, and all else is.
    let is_error = |location: &ir::Location| matches!(location.kind, LocationKind::Error(_));
    let but_errors: Vec<bool> = symbolic
        .templates
        .iter()
        .flat_map(|code| &code.locations)
        .map(|location| !is_error(location))
        .collect();
    let made = [
        nothing.clone(),
        FlowProof { unique: templates.clone(), ..nothing.clone() },
        FlowProof { data: Some(no_data.clone()), ..nothing },
        everywhere.clone(),
        FlowProof { unique: templates.clone(), ..everywhere.clone() },
        FlowProof { coreachable: paired.clone(), facts: facts_of(&held), ..everywhere.clone() },
        FlowProof { coreachable: paired.clone(), data: Some(no_data.clone()), ..everywhere.clone() },
        FlowProof { reachable: but_errors.clone(), coreachable: paired.clone(), ..everywhere.clone() },
        FlowProof {
            reachable: but_errors,
            coreachable: paired,
            unique: templates,
            data: Some(no_data),
            facts: facts_of(&held),
            ..everywhere
        },
    ];
    made.into_iter().map(|proof| Proof::Flow(Box::new(proof))).collect()
}

/// Proofs by formulas: all of them are false.
fn of_transitions(program: &Views, races: bool) -> Vec<Proof> {
    let Ok(words) = prepare(program, races, &Budget::unlimited()) else { return Vec::new() };
    let system = System::new(words, Mode::Integers);
    let mut found = modular(words);
    let never = Term::bool(false);
    if let Some(scoped) = Scoped::new(&system, &|| false) {
        let nothing = PredicateRelation { functions: Vec::new(), clauses: vec![Vec::new()] };
        for own in [nothing, PredicateRelation::default()] {
            let step = StepAbstraction { own, others: Vec::new() };
            let inner = [Proof::NoErrorLocation, Proof::States(Box::default())];
            found.extend(inner.into_iter().map(|inner| {
                Proof::Abstraction(Box::new(AbstractionProof {
                    predicates: Vec::new(),
                    initial: Vec::new(),
                    start: Vec::new(),
                    steps: vec![step.clone(); scoped.steps.len()],
                    inner,
                }))
            }));
        }
    }
    if let Ok(threads) = Threads::new(&system) {
        let errors = |number: usize, template: TemplateId| {
            let locations = words.templates[template].locations.enumerate();
            let bad = locations.filter(|(_, what)| matches!(what.kind, LocationKind::Error(_)));
            bad.map(move |(location, _)| (number, location)).collect::<Vec<_>>()
        };
        let errors: Vec<(usize, LocationId)> = (threads.threads.iter().enumerate())
            .flat_map(|(number, thread)| errors(number, thread.template))
            .collect();
        found.extend(products(&threads, &errors));
        found.extend(queries(words, &threads, &errors));
    }
    found.extend(contexts(words, &never));
    found
}

/// What holds of every few threads: nothing does.
fn modular(words: &Program) -> Vec<Proof> {
    let templates: Vec<TemplateId> = words.templates.ids().collect();
    let mut lists: Vec<Vec<TemplateId>> = templates.iter().map(|one| vec![*one]).collect();
    let mut found = Vec::new();
    for size in 1..=2 {
        if size == 2 {
            let pairs = templates.iter().flat_map(|one| templates.iter().map(|two| vec![*one, *two]));
            lists.extend(pairs);
        }
        let place = Term::int_variable(Symbol::Location(0));
        let bounds = [0, 1, 4].map(|bound| place.at_most(&Term::int(bound)));
        for first in [Term::bool(false), Term::bool(true)].into_iter().chain(bounds) {
            for sorted in [false, true] {
                let claims = lists.iter().filter(|list| !sorted || !list.is_sorted() || list.len() == 1);
                let of = |list: &Vec<TemplateId>| {
                    let claim = if *list == [TemplateId(0)] { first.clone() } else { Term::bool(false) };
                    (list.clone(), claim)
                };
                let invariants = claims.map(of).collect();
                found.push(Proof::Modular(Box::new(ModularProof { size, invariants, passed: Vec::new() })));
            }
        }
    }
    found
}

/// The product of threads has one node, which nobody is at, or which nothing leads out of.
fn products(threads: &Threads, errors: &[(usize, LocationId)]) -> Vec<Proof> {
    let locations = threads.threads.iter().map(|thread| thread.at_start.then_some(thread.entry)).collect();
    let start = ProductNode {
        locations,
        sleep: 0,
        awake: 0,
        first: 0,
        moves: Vec::new(),
        constants: Vec::new(),
        invariant: Some(Term::bool(false)),
    };
    let all = [
        vec![],
        vec![start.clone()],
        vec![ProductNode { invariant: Some(Term::bool(true)), ..start.clone() }],
        vec![ProductNode { sleep: u32::MAX, invariant: None, ..start }],
    ];
    let part = |nodes: &Vec<ProductNode>| {
        let of = |error: &(usize, LocationId)| ProductPart {
            error: *error,
            ends: Vec::new(),
            nodes: nodes.clone(),
        };
        ProductProof { parts: errors.iter().map(of).collect() }
    };
    all.iter().map(|nodes| Proof::Product(Box::new(part(nodes)))).collect()
}

/// Nothing can be asked of the others, and nobody is anywhere.
fn queries(words: &Program, threads: &Threads, errors: &[(usize, LocationId)]) -> Vec<Proof> {
    let order: Vec<usize> = (0..threads.threads.len()).collect();
    let mut found = Vec::new();
    for term in [None, Some(Term::bool(false)), Some(Term::bool(true))] {
        for claimed in [false, true] {
            let places = |thread: usize| Places {
                at: vec![term.clone(); words.templates[threads.threads[thread].template].locations.len()],
                before_start: term.clone(),
            };
            let claim = |thread: usize| QueriesClaim {
                before: Term::bool(true),
                after: Term::bool(false),
                reachable: places(thread),
                moving: places(thread),
            };
            for claims in [order.len(), order.len().saturating_sub(1)] {
                let claims = order.iter().rev().take(claims).rev();
                let part = QueriesPart {
                    order: order.clone(),
                    errors: errors.to_vec(),
                    main: places(0),
                    claims: claims
                        .map(|thread| if claimed { vec![claim(*thread)] } else { vec![] })
                        .collect(),
                };
                found.push(Proof::Queries(Box::new(QueriesProof { parts: vec![part] })));
            }
        }
    }
    found
}

/// Contexts in which nobody does anything.
fn contexts(words: &Program, never: &Term) -> Vec<Proof> {
    let mut found = Vec::new();
    for label in [never.clone(), Term::bool(true)] {
        let state = AbstractState { label: label.clone(), atomic: false, accesses: BTreeSet::new() };
        let acfa = Acfa { states: [state].into_iter().collect(), start: AbstractId(0), edges: Vec::new() };
        let acfas: IdVec<TemplateId, Acfa> = words.templates.ids().map(|_| acfa.clone()).collect();
        let of = |(template, location)| ContextNode {
            template,
            location,
            state: AbstractId(0),
            formula: label.clone(),
        };
        let entries: Vec<_> = words.templates.enumerate().map(|(id, code)| (id, code.entry)).collect();
        for entries in [vec![], entries[..1.min(entries.len())].to_vec(), entries] {
            let nodes: Vec<ContextNode> = entries.into_iter().map(of).collect();
            let views = (0..nodes.len())
                .map(|node| ContextView { node, others: Vec::new(), formula: label.clone() })
                .collect();
            found.push(Proof::Context(Box::new(ContextProof {
                predicates: Vec::new(),
                lines: Vec::new(),
                acfas: acfas.clone(),
                nodes,
                edges: Vec::new(),
                views,
            })));
        }
    }
    found
}

/// Specifications by which threads do nothing, or are never anywhere.
fn specifications(program: &Views) -> Vec<Proof> {
    let Ok(words) = prepare_whole(program, &Budget::unlimited()) else { return Vec::new() };
    let mut found = Vec::new();
    for named in [false, true] {
        let threads: Vec<Thread> = match named {
            true => words.templates.iter().map(|code| Thread::idle(&code.name)).collect(),
            false => Vec::new(),
        };
        let specification = Specification { threads, ..Specification::default() };
        for term in [None, Some(Term::bool(false)), Some(Term::bool(true))] {
            let conformance = |(template, code): (TemplateId, &ir::Template)| {
                let at = vec![term.clone(); code.locations.len()];
                Conformance {
                    template,
                    alone: at.clone(),
                    starting: at.clone(),
                    outside: at.clone(),
                    inside: at,
                }
            };
            let compositions = [
                Composition::Counting(Term::bool(false)),
                Composition::Counting(Term::bool(true)),
                Composition::Program(Box::new(Proof::NoErrorLocation)),
            ];
            for composition in compositions {
                found.push(Proof::Spec(Box::new(SpecProof {
                    specification: specification.clone(),
                    threads: words.templates.enumerate().map(conformance).collect(),
                    composition,
                })));
            }
        }
    }
    found
}
