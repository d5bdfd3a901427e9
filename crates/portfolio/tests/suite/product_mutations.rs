//! The checker refuses a proof by a product of threads with something taken away or made up.

use checker::check_proof;
use engine_horn::Horn;
use portfolio::pipeline;
use terms::{Symbol, Term};
use verdict::{Budget, Check, Engine, ProductProof, Proof, Silent, Task, Verdict};

/// Two counters that are raised as often, by threads that do not see one another; a hand-shake; and many ways
/// without a loop.
const PROGRAMS: [(&str, &str); 3] = [
    (
        "two counters",
        "#include <pthread.h>
        #include <assert.h>
        extern unsigned __VERIFIER_nondet_uint(void);
        unsigned n, x, y;
        void *f(void *a) { for (unsigned i = 0; i < n; i++) x = i + 1; return 0; }
        void *g(void *a) { for (unsigned i = 0; i < n; i++) y = i + 1; return 0; }
        int main(void) { pthread_t t, u; n = __VERIFIER_nondet_uint();
            pthread_create(&t, 0, f, 0); pthread_create(&u, 0, g, 0);
            pthread_join(t, 0); pthread_join(u, 0); assert(x == y); return 0; }",
    ),
    (
        "a hand-shake",
        "#include <pthread.h>
        #include <assert.h>
        extern int __VERIFIER_nondet_int(void);
        _Atomic int full; _Atomic int slot;
        void *f(void *a) { while (__VERIFIER_nondet_int()) { while (full) ; slot = 7; full = 1; } return 0; }
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0);
            while (__VERIFIER_nondet_int()) { while (!full) ; assert(slot == 7); full = 0; } return 0; }",
    ),
    ("many ways", MANY_WAYS),
];

const MANY_WAYS: &str = "#include <pthread.h>
        #include <assert.h>
        extern int __VERIFIER_nondet_int(void);
        int a, b, c, d, x, y;
        static int order(int one, int other) { return one < other ? -1 : (one > other ? 1 : 0); }
        void *f(void *p) { x = order(a, b); if (x == 0) x = order(b, c); if (x == 0) x = order(c, d); return 0; }
        void *g(void *p) { y = order(b, a); if (y == 0) y = order(c, b); if (y == 0) y = order(d, c); return 0; }
        int main(void) { pthread_t t, u;
            a = __VERIFIER_nondet_int(); b = __VERIFIER_nondet_int();
            c = __VERIFIER_nondet_int(); d = __VERIFIER_nondet_int();
            pthread_create(&t, 0, f, 0); pthread_create(&u, 0, g, 0);
            pthread_join(t, 0); pthread_join(u, 0); assert(x == -y); return 0; }";

fn lowered(text: &str) -> (verdict::Views, verdict::Property) {
    let source = frontend_c::Source { name: "test.c".to_owned(), text: text.as_bytes().to_vec() };
    let program = frontend_c::read(&[source], &frontend_c::Options::default()).expect("it is C");
    (pipeline::prepare(&program, Check::Assertions), Check::Assertions.property())
}

fn proof_of(text: &str) -> (verdict::Views, ProductProof) {
    let (lowered, property) = lowered(text);
    let task = Task { program: &lowered, property: &property };
    match Horn.verify(task, &Budget::steps_for(60.0), &Silent) {
        Verdict::Safe(Proof::Product(proof)) => (lowered, *proof),
        other => panic!("no proof: {other:?}"),
    }
}

fn accepts(program: &verdict::Views, proof: ProductProof) -> bool {
    let property = Check::Assertions.property();
    check_proof(program, &property, &Proof::Product(Box::new(proof)), &Budget::steps_for(60.0)).is_ok()
}

/// Ways that are left out of the proof, or lead elsewhere, are missed; names that are made up on the way
/// cannot be used; and the same proof does not do for a program that is wrong.
#[test]
fn all_ways_between_invariants_count() {
    let (program, proof) = proof_of(MANY_WAYS);
    let passed = proof.parts[0].nodes.iter().filter(|node| node.invariant.is_none()).count();
    assert!(passed > 5, "{passed} nodes are only on the way");
    assert!(accepts(&program, proof.clone()));
    for (number, node) in proof.parts[0].nodes.iter().enumerate() {
        for (position, (_, _, target)) in node.moves.iter().enumerate() {
            let mut less = proof.clone();
            less.parts[0].nodes[number].moves.remove(position);
            assert!(!accepts(&program, less), "without a move from node {number}");
            let mut back = proof.clone();
            back.parts[0].nodes[number].moves[position].2 = number;
            assert!(*target == number || !accepts(&program, back), "a circle at node {number}");
        }
        for symbol in [Symbol::Passed(1), Symbol::Plain("made up".to_owned())] {
            let mut foreign = proof.clone();
            let name = Term::bool_variable(symbol);
            let made_up = name.or(&name.not().and(&Term::bool_variable("other")));
            foreign.parts[0].nodes[number].invariant = Some(made_up);
            assert!(!accepts(&program, foreign), "{name} at node {number}");
        }
    }
    for (right, wrong) in
        [("order(c, b)", "order(b, c)"), ("x == -y", "x == y"), ("order(d, c)", "order(c, a)")]
    {
        let (other, _) = lowered(&MANY_WAYS.replace(right, wrong));
        assert!(!accepts(&other, proof.clone()), "{wrong}");
    }
}

#[test]
fn a_product_proof_counts_as_a_whole_only() {
    for (name, text) in PROGRAMS {
        let (program, proof) = proof_of(text);
        assert!(accepts(&program, proof.clone()), "{name}");
        let (mut weakened, mut refused) = (0, 0);
        for part in 0..proof.parts.len() {
            let mut less = proof.clone();
            less.parts.remove(part);
            assert!(!accepts(&program, less), "{name}: without part {part}");
            for node in 0..proof.parts[part].nodes.len() {
                let mut less = proof.clone();
                less.parts[part].nodes.remove(node);
                assert!(!accepts(&program, less), "{name}: without node {node}");
                let mut more = proof.clone();
                more.parts[part].nodes[node].sleep |= 0b10;
                more.parts[part].nodes[node].awake = 0;
                let stuck = proof.parts[part].nodes[node].invariant == Some(Term::bool(false));
                assert!(stuck || !accepts(&program, more), "{name}: nobody moves at node {node}");
                let original = &proof.parts[part].nodes[node].invariant;
                for weaker in [Some(Term::bool(true)), Some(Term::bool(false))] {
                    if *original == weaker || original.is_none() || stuck {
                        continue;
                    }
                    let mut other = proof.clone();
                    other.parts[part].nodes[node].invariant = weaker;
                    weakened += 1;
                    refused += u32::from(!accepts(&program, other));
                }
            }
        }
        // An invariant may say more than is needed of it; false is never true.
        assert!(2 * refused >= weakened && refused > 0, "{name}: {refused} of {weakened}");
    }
}
