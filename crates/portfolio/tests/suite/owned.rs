//! Proofs by ownership: right ones are accepted, and none that claims more or less.

use checker::check_proof;
use engine_flow::Flow;
use ir::{LocalId, LocationKind, ObjectId, ObjectRole};
use portfolio::owned::Owned;
use portfolio::pipeline;
use std::collections::BTreeSet;
use verdict::{Budget, Check, Engine, OwnedMemory, OwnedProof, Proof, Silent, Task, Verdict, Views};

const CHECKS: [Check; 4] = [Check::Deref, Check::Free, Check::Memtrack, Check::Memcleanup];

/// A program whose threads, or whose only thread, run this.
fn program(body: &str, threads: bool) -> String {
    let main = match threads {
        true => "pthread_t t; while (__VERIFIER_nondet_int()) pthread_create(&t, 0, work, 0); return 0;",
        false => "work(0); return 0;",
    };
    format!(
        "#include <pthread.h>
        #include <stdlib.h>
        extern int __VERIFIER_nondet_int(void);
        int *other;
        static void *work(void *unused) {{ {body} return 0; }}
        int main(void) {{ {main} }}"
    )
}

/// Bodies in which a check fails, with the check.
const BROKEN: [(&str, Check); 9] = [
    ("int *p = malloc(4); free(p); *p = 1;", Check::Deref),
    ("int *p = malloc(4); p[1] = 1; free(p);", Check::Deref),
    ("int *p = malloc(4); other = p; free(other); *p = 1;", Check::Deref),
    ("int *p = malloc(4); free(p); free(p);", Check::Free),
    ("int *p = malloc(4); int *q = p; free(p); free(q);", Check::Free),
    ("int *p = malloc(8); free(p + 1);", Check::Free),
    ("int *p = malloc(4); *p = 1;", Check::Memtrack),
    ("int *p = malloc(4); p = malloc(4); free(p);", Check::Memtrack),
    ("int *p = malloc(4); if (__VERIFIER_nondet_int()) free(p);", Check::Memcleanup),
];

fn lowered(text: &str, check: Check) -> Views {
    pipeline::prepare(&crate::queries::read(text), check)
}

fn budget() -> Budget {
    Budget::steps_for(30.0)
}

fn is_accepted(program: &Views, check: Check, proof: &OwnedProof) -> bool {
    check_proof(program, &check.property(), &Proof::Owned(Box::new(proof.clone())), &budget()).is_ok()
}

fn found(program: &Views, check: Check) -> Option<OwnedProof> {
    match Owned(&Flow).verify(Task { program, property: &check.property() }, &budget(), &Silent) {
        Verdict::Safe(Proof::Owned(proof)) => Some(*proof),
        Verdict::Safe(_) | Verdict::Unsafe(_) | Verdict::Unknown(_) => None,
    }
}

#[test]
fn what_is_broken_is_not_proved() {
    for (body, check) in BROKEN {
        for threads in [false, true] {
            let program = lowered(&program(body, threads), check);
            assert_eq!(found(&program, check), None, "{body}");
            let base = program.inlined(&budget()).expect("it is small");
            let sites = base.objects.enumerate().filter(|(_, site)| site.role == ObjectRole::Allocated);
            let sites: Vec<ObjectId> = sites.map(|(id, _)| id).collect();
            // Each local owns memory of each site, everywhere or after the start.
            for (at_entry, together) in [(true, true), (true, false), (false, true), (false, false)] {
                let claims = base.templates.iter().map(|code| {
                    let locals: BTreeSet<LocalId> = code.locals.ids().collect();
                    let one = |site: ObjectId, copies: BTreeSet<LocalId>| OwnedMemory {
                        site,
                        size: Some(1 << 20),
                        copies,
                        derived: BTreeSet::new(),
                    };
                    let all: Vec<OwnedMemory> = match together {
                        true => sites.iter().map(|site| one(*site, locals.clone())).collect(),
                        false => {
                            let of = |site: &ObjectId| {
                                let site = *site;
                                let each = locals.iter().map(move |local| (site, *local));
                                each.map(|(site, local)| one(site, BTreeSet::from([local])))
                                    .collect::<Vec<_>>()
                            };
                            sites.iter().flat_map(of).collect()
                        }
                    };
                    let here = |location| match location == code.entry && !at_entry {
                        true => Some(Vec::new()),
                        false => Some(all.clone()),
                    };
                    code.locations.ids().map(here).collect()
                });
                let forged = OwnedProof { claims: claims.collect(), rest: Proof::NoErrorLocation };
                assert!(!is_accepted(&program, check, &forged), "{body}");
            }
            for is_known in [true, false] {
                let claims =
                    base.templates.iter().map(|code| vec![is_known.then(Vec::new); code.locations.len()]);
                let forged = OwnedProof { claims: claims.collect(), rest: Proof::NoErrorLocation };
                assert!(!is_accepted(&program, check, &forged), "{body}");
            }
        }
    }
}

#[test]
fn each_claim_counts() {
    let body = "int *p = malloc(8); int *q = p; p[1] = 2; if (*q) p[0] = 1; free(q);";
    for check in CHECKS {
        let text = program(body, check != Check::Memcleanup);
        let program = lowered(&text, check);
        let proof = found(&program, check).unwrap_or_else(|| panic!("{} is proved", check.name()));
        assert!(is_accepted(&program, check, &proof), "{}", check.name());
        let base = program.inlined(&budget()).expect("it is small");
        let is_about_leaks = matches!(check, Check::Memtrack | Check::Memcleanup);
        let mut changed = 0;
        for (id, code) in base.templates.enumerate() {
            for (location, what) in code.locations.enumerate() {
                let (template, at) = (id.0 as usize, location.0 as usize);
                let Some(owned) = &proof.claims[template][at] else { continue };
                let mut refuse = |claims: Option<Vec<OwnedMemory>>, text: &str| {
                    let mut forged = proof.clone();
                    forged.claims[template][at] = claims;
                    changed += 1;
                    let name = check.name();
                    assert!(!is_accepted(&program, check, &forged), "{name}: {id} {location}: {text}");
                };
                if what.kind == LocationKind::Normal {
                    refuse(None, "nobody gets there");
                }
                let made_up = OwnedMemory {
                    site: base.objects.ids().last().expect("there are objects"),
                    size: Some(4),
                    copies: code.locals.ids().take(1).collect(),
                    derived: BTreeSet::new(),
                };
                if !code.locals.is_empty() {
                    refuse(Some([owned.clone(), vec![made_up]].concat()), "made-up memory");
                }
                for (index, memory) in owned.iter().enumerate() {
                    let with = |changed: OwnedMemory| {
                        let mut owned = owned.clone();
                        owned[index] = changed;
                        Some(owned)
                    };
                    refuse(with(OwnedMemory { size: Some(1 << 20), ..memory.clone() }), "a larger size");
                    refuse(with(OwnedMemory { copies: BTreeSet::new(), ..memory.clone() }), "no copy");
                    for local in code.locals.ids().filter(|local| !memory.copies.contains(local)) {
                        let mut copies = memory.copies.clone();
                        copies.insert(local);
                        refuse(with(OwnedMemory { copies, ..memory.clone() }), "one more copy");
                    }
                    let beyond = LocalId(code.locals.len() as u32);
                    let copies = BTreeSet::from([beyond]);
                    refuse(with(OwnedMemory { copies, ..memory.clone() }), "no such local");
                    if is_about_leaks {
                        let mut fewer = owned.clone();
                        fewer.remove(index);
                        refuse(Some(fewer), "forgotten memory");
                    }
                }
            }
        }
        assert!(changed > 20, "{changed} changes");
    }
}

#[test]
fn proofs_hold_for_their_program_only() {
    let right = "int *p = malloc(4); *p = 1; free(p);";
    for check in CHECKS {
        let proof = found(&lowered(&program(right, false), check), check).expect("it is proved");
        for (body, _) in BROKEN.iter().filter(|(_, wrong)| *wrong == check) {
            assert!(!is_accepted(&lowered(&program(body, false), check), check, &proof), "{body}");
        }
    }
}
