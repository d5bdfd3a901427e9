//! Forged proofs: for each kind of proof the most that one could claim without a reason, against programs in
//! which the property is violated. And single forgeries that were accepted once.

use checker::check_proof;
use engine_horn::Horn;
use ir::ids::Id;
use ir::specification::{Specification, State, Thread};
use ir::{Count, IdVec, LocationId, LocationKind, Span, TemplateId};
use portfolio::pipeline;
use smt::expressions::Mode;
use terms::{Sort, Symbol, Term, Variable};
use transitions::threads::Threads;
use transitions::{Scoped, System, prepare};
use verdict::queries::Places;
use verdict::{
    AbstractionProof, Acfa, Analysed, Budget, Check, Composition, Conformance, ContextNode, ContextProof,
    ContextView, DataProof, Engine, FlowProof, LocationFacts, ModularProof, Pairs, ProductNode, ProductPart,
    ProductProof, Proof, QueriesPart, QueriesProof, Relation, RunsProof, Silent, SpecProof, StatesProof,
    StepAbstraction, Task, Verdict, Views,
};

/// Programs in which an assertion fails, and a data race happens: one thread, a fixed set of them, any
/// number, an atomic region, an input.
const BROKEN: [&str; 5] = [
    "#include <assert.h>
    int main(void) { int x = 1; assert(x == 2); return 0; }",
    "#include <pthread.h>
    #include <assert.h>
    int x;
    void *f(void *a) { x = 1; return 0; }
    int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); x = 2; assert(x == 2); pthread_join(t, 0); return 0; }",
    "#include <pthread.h>
    #include <assert.h>
    extern int __VERIFIER_nondet_int(void);
    int x;
    void *f(void *a) { x++; assert(x < 2); return 0; }
    int main(void) { pthread_t t; while (__VERIFIER_nondet_int()) pthread_create(&t, 0, f, 0); return 0; }",
    "#include <pthread.h>
    #include <assert.h>
    int x;
    void *f(void *a) { __VERIFIER_atomic_begin(); x = 1; assert(x == 0); __VERIFIER_atomic_end(); return 0; }
    int main(void) { pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, f, 0); x = 3; return 0; }",
    "#include <pthread.h>
    #include <assert.h>
    extern int __VERIFIER_nondet_int(void);
    int x;
    void *f(void *a) { int i = __VERIFIER_nondet_int(); x = i; assert(i != 7); return 0; }
    int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); f(0); return x; }",
];

fn lowered(text: &str, check: Check) -> Views {
    pipeline::prepare(&crate::queries::read(text), check)
}

fn refuse(program: &Views, check: Check, what: &str, proof: Proof) {
    let accepted = check_proof(program, &check.property(), &proof, &Budget::steps_for(30.0));
    assert!(accepted.is_err(), "{what}: {}\n{proof:?}", check.name());
}

/// The program as transitions, as the checker makes it.
fn prepared(program: &Views, check: Check) -> &Analysed {
    prepare(program, check == Check::Races, &Budget::unlimited()).expect("it is small")
}

const CHECKS: [Check; 2] = [Check::Assertions, Check::Races];

/// Each forgery for each program and check; races of the first program are none.
fn each_broken(forge: impl Fn(&str, &Views, Check)) {
    for (number, text) in BROKEN.iter().enumerate() {
        for check in CHECKS.into_iter().filter(|check| number > 0 || *check == Check::Assertions) {
            forge(&format!("program {number}"), &lowered(text, check), check);
        }
    }
}

#[test]
fn proofs_without_content() {
    each_broken(|name, program, check| {
        let copies: Vec<u32> = program
            .start
            .iter()
            .map(|(_, count)| match count {
                Count::Exactly(copies) => *copies,
                Count::Any => 0,
            })
            .collect();
        refuse(program, check, name, Proof::Exhaustive { copies, states: 1 });
        refuse(program, check, name, Proof::Exhaustive { copies: vec![], states: 0 });
        refuse(program, check, name, Proof::NoErrorLocation);
        refuse(program, check, name, Proof::OneThread);
        refuse(program, check, name, Proof::LockOrder(vec![]));
        refuse(program, check, name, Proof::LockOrder(static_locks(program)));
        for errors in [Proof::NoErrorLocation, Proof::OneThread] {
            let runs = RunsProof { races: Proof::OneThread, errors };
            refuse(program, check, name, Proof::Runs(Box::new(runs)));
        }
    });
}

/// All that may be a lock, in the order of the objects.
fn static_locks(program: &ir::Program) -> Vec<ir::passes::StaticLock> {
    let statics = program.objects.enumerate().filter(|(_, object)| object.storage == ir::Storage::Static);
    statics.map(|(id, _)| (id, 0)).collect()
}

/// Nobody is anywhere; or everybody is everywhere, and nobody together; or no value is possible.
#[test]
fn flow() {
    each_broken(|name, program, check| {
        let seen = program.sliced(check == Check::Races, &Budget::unlimited()).expect("it is small");
        let nodes: usize = seen.templates.iter().map(|code| code.locations.len()).sum();
        let unique: Vec<TemplateId> = seen.templates.ids().collect();
        let facts: Vec<Vec<LocationFacts>> =
            seen.templates.iter().map(|code| vec![LocationFacts::default(); code.locations.len()]).collect();
        let mut all = Pairs::new(nodes);
        for (a, b) in (0..nodes).flat_map(|a| (0..nodes).map(move |b| (a, b))) {
            all.insert(a, b);
        }
        let nothing = DataProof {
            invariants: vec![None; nodes],
            copies: vec![vec![]; nodes],
            relations: vec![vec![]; nodes],
            ..DataProof::default()
        };
        for unique in [vec![], unique] {
            for reachable in [false, true] {
                for coreachable in [Pairs::new(nodes), all.clone()] {
                    for data in [None, Some(nothing.clone())] {
                        let proof = FlowProof {
                            unique: unique.clone(),
                            facts: facts.clone(),
                            reachable: vec![reachable; nodes],
                            coreachable: coreachable.clone(),
                            given: vec![],
                            families: vec![],
                            counters: vec![],
                            data,
                        };
                        refuse(program, check, name, Proof::Flow(Box::new(proof)));
                    }
                }
            }
        }
    });
}

/// No thread state, or all of them, with nothing that is unreachable.
#[test]
fn states_and_abstraction() {
    each_broken(|name, program, check| {
        if check != Check::Assertions {
            refuse(program, check, name, Proof::States(Box::default()));
            return;
        }
        for set in [0, 1] {
            for points in 0..40 {
                let proof = StatesProof { sets: vec![set; points], ..StatesProof::default() };
                refuse(program, check, name, Proof::States(Box::new(proof)));
            }
        }
        let words = prepared(program, check);
        let system = System::new(words, Mode::Integers);
        let scoped = Scoped::new(&system, &|| false).expect("it starts as one thread");
        for inner in [
            Proof::NoErrorLocation,
            Proof::States(Box::default()),
            Proof::Exhaustive { copies: vec![1], states: 1 },
        ] {
            let proof = AbstractionProof {
                predicates: vec![],
                initial: vec![],
                start: vec![],
                steps: vec![StepAbstraction::default(); scoped.steps.len()],
                inner,
            };
            refuse(program, check, name, Proof::Abstraction(Box::new(proof.clone())));
            // What never is at the start, and steps that are never taken.
            let start = AbstractionProof { start: vec![vec![]], ..proof.clone() };
            refuse(program, check, name, Proof::Abstraction(Box::new(start)));
            let mut never = proof.clone();
            never.steps.iter_mut().for_each(|step| step.own.clauses.push(vec![]));
            refuse(program, check, name, Proof::Abstraction(Box::new(never)));
        }
    });
}

/// The start alone, with nobody awake, everybody asleep, or an invariant that nothing satisfies.
#[test]
fn product_and_queries() {
    each_broken(|name, program, check| {
        let words = prepared(program, check);
        let system = System::new(words, Mode::Integers);
        let Ok(threads) = Threads::new(&system) else {
            refuse(program, check, name, Proof::Product(Box::new(ProductProof { parts: vec![] })));
            refuse(program, check, name, Proof::Queries(Box::new(QueriesProof { parts: vec![] })));
            return;
        };
        let mut errors = Vec::new();
        for (number, thread) in threads.threads.iter().enumerate() {
            let locations = words.templates[thread.template].locations.enumerate();
            let bad = locations.filter(|(_, what)| matches!(what.kind, LocationKind::Error(_)));
            errors.extend(bad.map(|(location, _)| (number, location)));
        }
        let count = threads.threads.len();
        let first: Vec<Option<LocationId>> =
            threads.threads.iter().map(|thread| thread.at_start.then_some(thread.entry)).collect();
        let formulas = [None, Some(Term::bool(true)), Some(Term::bool(false))];
        for invariant in formulas.clone() {
            for (awake, sleep) in [(0, 0), (1, 0), (1, 1), (0b111, 0), (0b110, 0), (u32::MAX, u32::MAX)] {
                let node = ProductNode {
                    locations: first.clone(),
                    sleep,
                    awake,
                    first: 0,
                    moves: vec![],
                    constants: vec![],
                    invariant: invariant.clone(),
                };
                let part = |error: &(usize, LocationId)| ProductPart {
                    error: *error,
                    ends: (0..count).collect(),
                    nodes: vec![node.clone()],
                };
                let proof = ProductProof { parts: errors.iter().map(part).collect() };
                refuse(program, check, name, Proof::Product(Box::new(proof)));
            }
        }
        let most = threads.threads.iter().map(|thread| thread.steps.len()).max().unwrap_or(0);
        for formula in formulas {
            let places = Places { at: vec![formula.clone(); most], before_start: formula.clone() };
            for order in [(0..count).collect::<Vec<usize>>(), vec![0], vec![]] {
                let part = QueriesPart {
                    order,
                    errors: errors.clone(),
                    main: places.clone(),
                    claims: vec![vec![]; count.saturating_sub(1)],
                };
                let proof = QueriesProof { parts: vec![part] };
                refuse(program, check, name, Proof::Queries(Box::new(proof)));
            }
        }
    });
}

/// Lists of templates in every order, of which nothing is possible, beside one that says where a thread is at
/// first.
#[test]
fn modular() {
    each_broken(|name, program, check| {
        let templates: Vec<TemplateId> = prepared(program, check).templates.ids().collect();
        let at = Variable::new(Symbol::Location(0), Sort::Int).term();
        for bound in [0, 1, 2, 4, 9] {
            for size in 1..=3 {
                let mut invariants: Vec<(Vec<TemplateId>, Term)> = Vec::new();
                for one in &templates {
                    let formula =
                        if *one == templates[0] { at.at_most(&Term::int(bound)) } else { Term::bool(false) };
                    invariants.push((vec![*one], formula));
                }
                let rising = invariants.clone();
                for one in &templates {
                    for other in &templates {
                        if size > 1 {
                            invariants.push((vec![*one, *other], Term::bool(false)));
                        }
                    }
                }
                for invariants in [invariants, rising] {
                    let proof = ModularProof { size, invariants, passed: vec![] };
                    refuse(program, check, name, Proof::Modular(Box::new(proof)));
                }
            }
        }
        let nothing = ModularProof { size: 1, invariants: vec![], passed: vec![] };
        refuse(program, check, name, Proof::Modular(Box::new(nothing)));
    });
}

/// Automata of threads that do nothing, and nobody at any node; or a first node from which no edge leads.
#[test]
fn context() {
    each_broken(|name, program, check| {
        let words = prepared(program, check);
        let acfas: IdVec<TemplateId, Acfa> = words.templates.iter().map(|_| Acfa::empty()).collect();
        let empty = ContextProof {
            predicates: vec![],
            lines: vec![],
            acfas,
            nodes: vec![],
            edges: vec![],
            views: vec![],
        };
        refuse(program, check, name, Proof::Context(Box::new(empty.clone())));
        for formula in [Term::bool(true), Term::bool(false)] {
            let mut one = empty.clone();
            for (template, code) in words.templates.enumerate() {
                let state = one.acfas[template].start;
                one.nodes.push(ContextNode {
                    template,
                    location: code.entry,
                    state,
                    formula: formula.clone(),
                });
                let view =
                    ContextView { node: one.nodes.len() - 1, others: vec![], formula: formula.clone() };
                one.views.push(view);
            }
            refuse(program, check, name, Proof::Context(Box::new(one)));
        }
    });
}

/// A specification of a thread that nobody runs and that starts nowhere, so that there is no first state; and
/// threads of which nothing is possible.
#[test]
fn specification() {
    each_broken(|name, program, check| {
        let words = transitions::prepare_whole(program, &Budget::unlimited()).expect("it is small");
        let state = State { name: "S".to_owned(), assertion: vec![], span: Span::default() };
        for initial in [vec![], vec![0]] {
            for formula in [Term::bool(true), Term::bool(false)] {
                let thread = Thread {
                    name: "T".to_owned(),
                    function: "nobody".to_owned(),
                    count: Count::Exactly(1),
                    states: vec![state.clone()],
                    initial: initial.clone(),
                    transitions: vec![],
                    span: Span::default(),
                };
                let specification = Specification { threads: vec![thread], ..Specification::default() };
                let conformances = words.templates.enumerate().map(|(template, code)| {
                    let all = vec![Some(formula.clone()); code.locations.len()];
                    Conformance {
                        template,
                        alone: all.clone(),
                        starting: all.clone(),
                        outside: all.clone(),
                        inside: all,
                    }
                });
                let threads: Vec<Conformance> = conformances.collect();
                for composition in [
                    Composition::Counting(Term::bool(false)),
                    Composition::Counting(Term::bool(true)),
                    Composition::Program(Box::new(Proof::NoErrorLocation)),
                ] {
                    let (specification, threads) = (specification.clone(), threads.clone());
                    let proof = SpecProof { specification, threads, composition };
                    refuse(program, check, name, Proof::Spec(Box::new(proof)));
                }
            }
        }
    });
}

/// A right program whose proofs are changed below.
const RIGHT: &str = "#include <pthread.h>
    #include <assert.h>
    extern int __VERIFIER_nondet_int(void);
    _Atomic int full; _Atomic int slot;
    void *f(void *a) { while (__VERIFIER_nondet_int()) { while (full) ; slot = 7; full = 1; } return 0; }
    int main(void) { pthread_t t; pthread_create(&t, 0, f, 0);
        while (__VERIFIER_nondet_int()) { while (!full) ; assert(slot == 7); full = 0; } return 0; }";

fn product_of(program: &Views) -> ProductProof {
    let property = Check::Assertions.property();
    let task = Task { program, property: &property };
    match Horn.verify(task, &Budget::steps_for(60.0), &Silent) {
        Verdict::Safe(Proof::Product(proof)) => *proof,
        other => panic!("no proof: {other:?}"),
    }
}

fn why_not(program: &Views, proof: Proof) -> String {
    let property = Check::Assertions.property();
    match check_proof(program, &property, &proof, &Budget::steps_for(60.0)) {
        Ok(()) => "accepted".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn constants_of_a_product_are_literals() {
    let program = lowered(RIGHT, Check::Assertions);
    let mut proof = product_of(&program);
    assert_eq!(why_not(&program, Proof::Product(Box::new(proof.clone()))), "accepted");
    let node = &mut proof.parts[0].nodes[0];
    let variable = node.constants.first().map(|(variable, _)| variable.clone());
    let variable = variable.expect("something is known at the start");
    node.constants[0].1 = variable.term();
    let why = why_not(&program, Proof::Product(Box::new(proof)));
    assert!(why.contains("parts[0].nodes[0].constants[0]: a constant is a number or a truth value"), "{why}");
}

#[test]
fn only_threads_that_run_are_awake_in_a_product() {
    let program = lowered(RIGHT, Check::Assertions);
    let mut proof = product_of(&program);
    let nodes = &mut proof.parts[0].nodes;
    let at = nodes.iter().position(|node| node.locations.contains(&None)).expect("not all run at once");
    nodes[at].awake |= 0b10;
    let why = why_not(&program, Proof::Product(Box::new(proof)));
    assert!(why.contains("awake: a thread that is not running"), "{why}");
}

/// Inputs of steps are different values each time: as constants of an invariant they would be one.
#[test]
fn invariants_do_not_name_inputs() {
    let program = lowered(BROKEN[4], Check::Assertions);
    let words = prepared(&program, Check::Assertions);
    let system = System::new(words, Mode::Integers);
    let mut tried = 0;
    for step in &system.steps {
        for input in &step.inputs {
            let named = transitions::groups::Member { template: step.template, position: 0 }.own(input);
            let formula = named.term().equals(&Term::int(3)).or(&Term::bool_variable("more"));
            let invariants = vec![(vec![step.template], formula)];
            let proof = ModularProof { size: 1, invariants, passed: vec![] };
            let why = why_not(&program, Proof::Modular(Box::new(proof)));
            assert!(why.contains("which is no variable that it may speak of"), "{why}");
            tried += 1;
        }
    }
    assert!(tried > 0, "there are inputs");
}

/// A formula that is a number, where rules would take it for a truth value.
#[test]
fn formulas_are_boolean() {
    let program = lowered(RIGHT, Check::Assertions);
    let number = Term::int(1);
    let modular = ModularProof {
        size: 1,
        invariants: vec![(vec![TemplateId::new(0)], number.clone())],
        passed: vec![],
    };
    let why = why_not(&program, Proof::Modular(Box::new(modular)));
    assert!(why.contains("Modular.invariants[0]: a formula of sort Int"), "{why}");
    let mut product = product_of(&program);
    product.parts[0].nodes[0].invariant = Some(number);
    let why = why_not(&program, Proof::Product(Box::new(product)));
    assert!(why.contains("Product.parts[0].nodes[0].invariant: a formula of sort Int"), "{why}");
}

/// A relation of locations holds both ways, and has no bits for what is not there.
#[test]
fn relations_have_their_form() {
    for (text, good) in [
        (r#"{"bound":2,"words":[2,1]}"#, true),
        (r#"{"bound":2,"words":[2,0]}"#, false),
        (r#"{"bound":2,"words":[4,0]}"#, false),
        (r#"{"bound":2,"words":[2]}"#, false),
        (r#"{"bound":2,"words":[2,1],"more":0}"#, false),
    ] {
        assert_eq!(serde_json::from_str::<Pairs>(text).is_ok(), good, "{text}");
    }
    assert!(serde_json::from_str::<Relation>(r#"{"bound":2,"words":[2,0]}"#).is_ok());
}

/// `main` is the first thread and one that is started: what is said of the first thread is not true of the
/// second.
#[test]
fn main_may_be_a_thread_too() {
    let text = "#include <pthread.h>
        #include <assert.h>
        int turn;
        int main(void) { pthread_t t; assert(turn == 0);
            pthread_create(&t, 0, (void *(*)(void *))main, 0); turn = 1; return 0; }";
    let specification =
        "thread M runs main times any { start state A; state B; A, B -> B changes turn: turn' == 1; }";
    let program = crate::specifications::read_c(text);
    let specification = crate::specifications::read_spec(specification, &program);
    let engine = engine_spec::Spec { specification: &specification, composer: &engine_flow::Flow };
    let outcome =
        pipeline::verify(&program, Check::Assertions, &engine, &Budget::steps_for(60.0), &Silent).verdict;
    let checker::Checked::Unknown(verdict::Reason::NotSupported(why, _)) = &outcome else {
        panic!("{outcome:?}")
    };
    assert!(why.contains("runs what the first thread runs"), "{why}");
}
