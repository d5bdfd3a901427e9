//! The checker refuses a proof by a product of threads with something taken away or made up.

use checker::check_proof;
use engine_horn::Horn;
use terms::Term;
use threadproof::pipeline;
use verdict::{Budget, Check, Engine, ProductProof, Proof, Silent, Task, Verdict};

/// Two counters that are raised as often, by threads that do not see one another; and a hand-shake.
const PROGRAMS: [(&str, &str); 2] = [
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
];

fn proof_of(text: &str) -> (ir::Program, ProductProof) {
    let source = frontend_c::Source { name: "test.c".to_owned(), text: text.as_bytes().to_vec() };
    let program = frontend_c::read(&[source], &frontend_c::Options::default()).expect("it is C");
    let lowered = pipeline::prepare(&program, Check::Assertions);
    let property = Check::Assertions.property();
    let task = Task { program: &lowered, property: &property };
    match Horn.verify(task, &Budget::seconds(60.0), &Silent) {
        Verdict::Safe(Proof::Product(proof)) => (lowered, *proof),
        other => panic!("no proof: {other:?}"),
    }
}

fn accepts(program: &ir::Program, proof: ProductProof) -> bool {
    let property = Check::Assertions.property();
    check_proof(program, &property, &Proof::Product(Box::new(proof)), &Budget::seconds(60.0)).is_ok()
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
