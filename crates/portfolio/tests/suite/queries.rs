//! The engine `queries`: the examples of paper 5, and that the checker refuses its proofs with something
//! taken away or made up.

use checker::{Checked, check_proof};
use engine_queries::Queries;
use engine_queries::query::Options;
use portfolio::pipeline;
use terms::{Sort, Symbol, Term, Variable};
use verdict::queries::{BEFORE_START, Places, place};
use verdict::{Budget, Check, Engine, Proof, QueriesClaim, QueriesPart, QueriesProof, Silent, Task, Verdict};

pub fn read(text: &str) -> ir::Program {
    let source = frontend_c::Source { name: "test.c".to_owned(), text: text.as_bytes().to_vec() };
    frontend_c::read(&[source], &frontend_c::Options::default()).expect("it is C")
}

/// Whether a variable is a cell of the object of this name.
pub fn is_cell(variable: &Variable, wanted: &str) -> bool {
    matches!(variable.name.symbol(), Symbol::Cell { name, .. } if name == wanted)
}

fn paper(name: &str) -> ir::Program {
    let file = crate::root().join("tests/programs/papers").join(name);
    read(&std::fs::read_to_string(file).expect("the program is there"))
}

fn verdict(program: &ir::Program, main_thread: Option<&str>) -> Checked {
    let engine = Queries { main_thread: main_thread.map(str::to_owned) };
    pipeline::verify(program, Check::Assertions, &engine, &Budget::steps_for(200.0), &Silent).verdict
}

fn proof_of(program: &ir::Program) -> (verdict::Views, QueriesProof) {
    let lowered = pipeline::prepare(program, Check::Assertions);
    let property = Check::Assertions.property();
    let task = Task { program: &lowered, property: &property };
    match Queries::default().verify(task, &Budget::steps_for(200.0), &Silent) {
        Verdict::Safe(Proof::Queries(proof)) => (lowered, *proof),
        other => panic!("no proof: {other:?}"),
    }
}

fn accepts(program: &verdict::Views, proof: QueriesProof) -> bool {
    let property = Check::Assertions.property();
    check_proof(program, &property, &Proof::Queries(Box::new(proof)), &Budget::steps_for(60.0)).is_ok()
}

/// Figure 4.2: `t0` is the main thread, and among what it learns of `t1` is figure 4.6: from nowhere does
/// `t1` come to a state with `cs1` and without `claim1`.
#[test]
fn peterson_learns_what_the_paper_says() {
    let (program, proof) = proof_of(&paper("comus-figure4-2.c"));
    assert!(accepts(&program, proof.clone()));
    assert_eq!(proof.parts.len(), 1);
    let named = |claim: &Term, name: &str| {
        claim.free_variables().into_iter().find(|variable| is_cell(variable, name))
    };
    let learnt = proof.parts[0].claims[0].iter().any(|claim| {
        let (Some(cs1), Some(claim1)) = (named(&claim.after, "cs1"), named(&claim.after, "claim1")) else {
            return false;
        };
        let bad = cs1.term().and(&claim1.term().not());
        claim.before.is_true()
            && smt::can_fail(&bad.implies(&claim.after), &Budget::steps_for(10.0)) == smt::Answer::Unsat
    });
    assert!(
        learnt,
        "{:?}",
        proof.parts[0].claims[0].iter().map(|claim| claim.after.to_string()).collect::<Vec<_>>()
    );
}

/// Figures 4.2 and 7.1, and a chain: safe and broken.
#[test]
fn examples_of_the_paper() {
    for name in ["comus-figure4-5", "comus-figure6-1", "comus-figure7-2"] {
        let safe = verdict(&paper(&format!("{name}.c")), None);
        assert!(matches!(safe, Checked::Proved(Proof::Queries(_))), "{name}: {safe:?}");
        let broken = verdict(&paper(&format!("{name}-broken.c")), None);
        assert!(matches!(broken, Checked::Refuted(_)), "{name} broken: {broken:?}");
    }
}

/// A chain of three: what each thread needs of the next is a bound, and it is as tight as can be.
const CHAIN: &str = "#include <assert.h>
    #include <pthread.h>
    _Atomic int a = 1, b = 1, c = 1;
    extern void __VERIFIER_atomic_begin(void);
    extern void __VERIFIER_atomic_end(void);
    void *t0(void *arg) { for (int k = 0; k < 2; k++) { __VERIFIER_atomic_begin(); a = a + b; __VERIFIER_atomic_end(); } assert(a <= LIMIT); return 0; }
    void *t1(void *arg) { for (int k = 0; k < 2; k++) { __VERIFIER_atomic_begin(); b = b + c; __VERIFIER_atomic_end(); } return 0; }
    void *t2(void *arg) { for (int k = 0; k < 2; k++) { __VERIFIER_atomic_begin(); c = c + 1; __VERIFIER_atomic_end(); } return 0; }
    int main(void) { pthread_t t; pthread_create(&t, 0, t0, 0); pthread_create(&t, 0, t1, 0); pthread_create(&t, 0, t2, 0); return 0; }";

#[test]
fn a_chain_is_proved_by_bounds() {
    let (program, proof) = proof_of(&read(&CHAIN.replace("LIMIT", "15")));
    assert!(accepts(&program, proof.clone()));
    let claims = &proof.parts[0].claims;
    assert!(
        claims[1].iter().any(|claim| claim.before.is_true() && claim.after.to_string().starts_with("4 <= c"))
    );
    let broken = verdict(&read(&CHAIN.replace("LIMIT", "14")), None);
    assert!(matches!(broken, Checked::Refuted(_)), "{broken:?}");
}

/// Inductive environment properties (section 8.2), which are off by default: Peterson's algorithm has some,
/// the checker accepts them, and a broken version is not proved with them.
#[test]
fn inductive_properties_are_found() {
    let program = pipeline::prepare(&paper("comus-figure4-2.c"), Check::Assertions);
    let property = Check::Assertions.property();
    let verify = |program: &verdict::Views| {
        let task = Task { program, property: &property };
        Queries::default().verify_with(&Options { inductive: true }, task, &Budget::steps_for(200.0), &Silent)
    };
    let proof = match verify(&program) {
        Verdict::Safe(Proof::Queries(proof)) => *proof,
        other => panic!("no proof: {other:?}"),
    };
    let stays = |claim: &&QueriesClaim| claim.before == claim.after.not();
    let found: Vec<Term> = proof.parts[0].claims[0].iter().filter(stays).map(|c| c.before.clone()).collect();
    assert!(!found.is_empty());
    assert!(accepts(&program, proof.clone()));
    // Its opposite does not stay.
    let mut other = proof;
    for claim in other.parts[0].claims[0].iter_mut().filter(|claim| claim.before == claim.after.not()) {
        std::mem::swap(&mut claim.before, &mut claim.after);
    }
    assert!(!accepts(&program, other), "{found:?}");
    let broken = verify(&pipeline::prepare(&paper("comus-figure4-2-broken.c"), Check::Assertions));
    assert!(matches!(broken, Verdict::Unsafe(_)), "{broken:?}");
}

/// An assertion of a thread that is not the main one (section 7.3).
#[test]
fn another_main_thread() {
    for main in ["t1", "t2"] {
        let safe = verdict(&read(&CHAIN.replace("LIMIT", "15")), Some(main));
        assert!(matches!(safe, Checked::Proved(_)), "{main}: {safe:?}");
        let broken = verdict(&read(&CHAIN.replace("LIMIT", "14")), Some(main));
        assert!(!matches!(broken, Checked::Proved(_)), "{main}: {broken:?}");
    }
}

/// Starts two threads. With atomic runs, what is done before anyone else runs ends in an atomic region of the
/// main thread.
const STARTS: &str = "#include <assert.h>
    #include <pthread.h>
    extern int __VERIFIER_nondet_int(void);
    _Atomic int a;
    int c;
    void *t0(void *arg) { a = c; return 0; }
    void *t1(void *arg) { assert(arg != (void *)&a || WRONG); return 0; }
    int main(void) { pthread_t t; c = __VERIFIER_nondet_int(); pthread_create(&t, 0, t0, 0); pthread_create(&t, 0, t1, c ? &a : 0); return 0; }";

/// What was done before may stop in an atomic region: others run from there on all the same.
#[test]
fn the_start_may_be_in_an_atomic_region() {
    for (wrong, safe) in [("0", false), ("1", true)] {
        let program = read(&STARTS.replace("WRONG", wrong));
        let runs = ir::passes::lipton_reduce(&pipeline::prepare(&program, Check::Assertions)).into();
        let property = Check::Assertions.property();
        let task = Task { program: &runs, property: &property };
        match Queries::default().verify(task, &Budget::steps_for(60.0), &Silent) {
            Verdict::Safe(Proof::Queries(proof)) => assert!(safe && accepts(&runs, *proof)),
            Verdict::Unsafe(_) => assert!(!safe),
            other => panic!("{other:?}"),
        }
    }
}

/// A proof that the main thread never starts another one, since it is not looked at before it has, is
/// refused.
#[test]
fn claims_begin_at_the_start() {
    let text = STARTS.replace("WRONG", "0");
    let runs =
        verdict::Views::from(ir::passes::lipton_reduce(&pipeline::prepare(&read(&text), Check::Assertions)));
    let locations: Vec<usize> = runs.templates.iter().map(|code| code.locations.len()).collect();
    let everywhere = |formula: bool| Places {
        at: vec![Some(Term::bool(formula)); locations.iter().sum()],
        before_start: Some(Term::bool(formula)),
    };
    let is = |thread: usize, at: i128| place(thread).term().equals(&Term::int(at));
    let errors = |thread: usize| (1..40).map(move |at| (thread, ir::LocationId(at)));
    for first in 0..40 {
        let nothing_yet = is(0, first).and(&is(2, BEFORE_START));
        let never = QueriesClaim {
            before: is(0, first),
            after: nothing_yet.not(),
            reachable: everywhere(true),
            moving: everywhere(false),
        };
        let part = QueriesPart {
            order: vec![2, 0],
            errors: errors(2).collect(),
            main: Places { before_start: Some(nothing_yet), ..everywhere(false) },
            claims: vec![vec![never], Vec::new()],
        };
        assert!(!accepts(&runs, QueriesProof { parts: vec![part] }), "main begins at {first}");
    }
}

/// An error in an atomic region of a thread that is not the main one is seen.
#[test]
fn errors_in_atomic_regions() {
    let text = "#include <assert.h>
        #include <pthread.h>
        extern void __VERIFIER_atomic_begin(void);
        extern void __VERIFIER_atomic_end(void);
        _Atomic int x;
        void *f(void *arg) { x = 1; return 0; }
        void *g(void *arg) { __VERIFIER_atomic_begin(); assert(x <= LIMIT); __VERIFIER_atomic_end(); return 0; }
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_create(&t, 0, g, 0); return 0; }";
    for main in [None, Some("f")] {
        let safe = verdict(&read(&text.replace("LIMIT", "1")), main);
        assert!(matches!(safe, Checked::Proved(_)), "{main:?}: {safe:?}");
        let broken = verdict(&read(&text.replace("LIMIT", "0")), main);
        assert!(matches!(broken, Checked::Refuted(_)), "{main:?}: {broken:?}");
    }
}

/// Threads that are started late, and one that starts another: nothing is settled.
#[test]
fn threads_that_are_started_by_others() {
    let text = "#include <assert.h>
        #include <pthread.h>
        _Atomic int x, y;
        void *f(void *arg) { y = x; return 0; }
        void *g(void *arg) { pthread_t t; x = 1; pthread_create(&t, 0, f, 0); return 0; }
        int main(void) { pthread_t t; pthread_create(&t, 0, g, 0); int seen = y; assert(seen <= LIMIT); return 0; }";
    let safe = verdict(&read(&text.replace("LIMIT", "1")), None);
    assert!(matches!(safe, Checked::Proved(Proof::Queries(_))), "{safe:?}");
    let broken = verdict(&read(&text.replace("LIMIT", "0")), None);
    assert!(matches!(broken, Checked::Refuted(_)), "{broken:?}");
}

fn formulas(places: &mut Places) -> Vec<&mut Term> {
    places.at.iter_mut().chain([&mut places.before_start]).flatten().collect()
}

/// Each claim and each invariant counts: without one, or with one made up, a proof is refused, except where
/// it says more than is needed.
#[test]
fn a_proof_counts_as_a_whole_only() {
    let (program, proof) = proof_of(&read(&CHAIN.replace("LIMIT", "15")));
    let mut without = proof.clone();
    without.parts.clear();
    assert!(!accepts(&program, without), "without its part");
    let mut other = proof.clone();
    other.parts[0].errors.clear();
    assert!(!accepts(&program, other), "without its errors");
    let mut other = proof.clone();
    other.parts[0].order.pop();
    assert!(!accepts(&program, other), "without a thread that matters");
    for position in 0..proof.parts[0].claims.len() {
        for number in 0..proof.parts[0].claims[position].len() {
            let mut made_up = proof.clone();
            made_up.parts[0].claims[position][number].after = Term::bool(true);
            assert!(!accepts(&program, made_up), "nothing is ever reached: {position}, {number}");
        }
        if !proof.parts[0].claims[position].is_empty() {
            let mut without = proof.clone();
            without.parts[0].claims[position].clear();
            assert!(!accepts(&program, without), "without the claims at {position}");
        }
    }
    let (mut changed, mut refused) = (0, 0);
    for wrong in [Term::bool(true), Term::bool(false)] {
        let mut places: Vec<usize> = Vec::new();
        places.push(formulas(&mut proof.clone().parts[0].main).len());
        for number in 0..places[0] {
            let mut other = proof.clone();
            let formula = std::mem::replace(formulas(&mut other.parts[0].main).remove(number), wrong.clone());
            if formula != wrong && !formula.is_false() {
                changed += 1;
                refused += usize::from(!accepts(&program, other));
            }
        }
    }
    assert!(refused * 2 > changed && changed > 0, "{refused} of {changed}");
    // Names that the program does not have.
    let mut foreign = proof;
    let unknown = Variable::new("unknown", Sort::Bool).term();
    foreign.parts[0].claims[0][0].before = unknown;
    assert!(!accepts(&program, foreign), "a name that the program does not have");
}
