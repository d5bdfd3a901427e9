//! C programs, and what is known in them.

use crate::analysis::Analysis;
use crate::engine::{Summaries, annotate};
use crate::model::Model;
use crate::races::locations;
use frontend_c::{Options, Source, read};
use ir::passes::{self, Lowering, PointsTo};
use ir::{Assumption, Program, Span};
use verdict::{Budget, Engine, LockBase, Proof, Property, Reason, Silent, SummariesProof, Task, Verdict};

fn program(text: &str) -> Program {
    let source = Source { name: "test.c".to_owned(), text: text.as_bytes().to_vec() };
    let program = read(&[source], &Options::default()).expect("a C program");
    passes::concrete(&program, Lowering { races: true, ..Lowering::default() })
}

fn verdict(program: &Program) -> Verdict {
    let program = &program.clone().into();
    Summaries.verify(Task { program, property: &Property::NoRace }, &Budget::unlimited(), &Silent)
}

fn annotation(program: &Program) -> SummariesProof {
    let program = &program.clone().into();
    annotate(Task { program, property: &Property::NoRace }, &Budget::unlimited()).expect("an annotation")
}

/// The names of objects with cells that may have races.
fn open(text: &str) -> Vec<String> {
    let program = program(text);
    let points_to = PointsTo::of(&program);
    let model = Model::new(&program, &points_to);
    let budget = Budget::unlimited();
    let analysis = Analysis::run(&model, &budget).expect("no limit");
    let found = locations(&analysis, &budget).expect("no limit");
    let open = found.iter().filter(|location| !location.open.is_empty());
    open.map(|location| program.objects[location.cell.object].name.clone()).collect()
}

const START: &str = "#include <pthread.h>\n#include <stdlib.h>\n";

fn c(rest: &str) -> String {
    format!("{START}{rest}")
}

#[test]
fn a_lock_taken_by_a_callee_is_held_by_its_caller() {
    let text = c("struct s { pthread_mutex_t m; int x; };
        void lock(struct s *p) { pthread_mutex_lock(&p->m); }
        struct s a, b;
        int main(void) { lock(&a); a.x = 1; return 0; }");
    let program = program(&text);
    let proof = annotation(&program);
    let main = &proof.contexts[0];
    let names = |base: LockBase| match base {
        LockBase::Object(object) => program.objects[object].name.clone(),
        LockBase::Local(local) => program.templates[main.template].locals[local].name.clone(),
    };
    let held = main.facts.iter().flatten().flat_map(|facts| &facts.locks).map(|lock| names(lock.base));
    let held: Vec<String> = held.collect();
    assert!(!held.is_empty() && held.iter().all(|name| name == "a"), "{held:?}");
}

#[test]
fn a_callee_that_gives_a_lock_back_takes_it_from_its_caller() {
    let text = |callee: &str| {
        c(&format!("pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER; int x;
        void f(void) {{ {callee} }}
        void *t(void *a) {{ pthread_mutex_lock(&m); f(); x++; pthread_mutex_unlock(&m); return 0; }}
        int main(void) {{ pthread_t p; pthread_create(&p, 0, t, 0); pthread_create(&p, 0, t, 0); return 0; }}"))
    };
    assert_eq!(open(&text("pthread_mutex_lock(&n); pthread_mutex_unlock(&n);")), Vec::<String>::new());
    assert_eq!(open(&text("pthread_mutex_unlock(&m);")), ["x"]);
}

#[test]
fn a_lock_that_is_set_up_again_is_not_relied_on() {
    let text = |again: &str| {
        c(&format!("pthread_mutex_t m; int x;
        void *t(void *a) {{ pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return 0; }}
        int main(void) {{ pthread_t p; pthread_mutex_init(&m, 0); pthread_create(&p, 0, t, 0); {again} t(0); return 0; }}"))
    };
    assert_eq!(open(&text("")), Vec::<String>::new());
    assert!(open(&text("pthread_mutex_init(&m, 0);")).contains(&"x".to_owned()));
}

#[test]
fn locks_of_different_objects_do_not_guard_each_other() {
    let text = |used: &str| {
        c(&format!("struct s {{ pthread_mutex_t m; int x; }};
        struct s *new(void) {{ struct s *p = malloc(sizeof *p); pthread_mutex_init(&p->m, 0); p->x = 0; return p; }}
        struct s *all[9];
        void *t(void *a) {{ struct s *p = all[(long)a], *q = all[2]; pthread_mutex_lock(&p->m); {used}->x++; pthread_mutex_unlock(&p->m); return 0; }}
        int main(void) {{ pthread_t i; for (int k = 0; k < 9; k++) all[k] = new();
          pthread_create(&i, 0, t, (void *)1); pthread_create(&i, 0, t, (void *)3); return 0; }}"))
    };
    assert_eq!(open(&text("p")), Vec::<String>::new());
    assert_eq!(open(&text("q")).len(), 1);
}

#[test]
fn an_object_is_owned_until_it_is_stored() {
    let text = |before: &str, after: &str| {
        c(&format!("struct s {{ int x; struct s *next; }}; struct s *list;
        pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
        void *t(void *a) {{ struct s *p = malloc(sizeof *p); {before} pthread_mutex_lock(&m); p->next = list; list = p;
          if (p->next) p->next->x++; pthread_mutex_unlock(&m); {after} return 0; }}
        int main(void) {{ pthread_t i; for (int k = 0; k < 9; k++) pthread_create(&i, 0, t, 0); return 0; }}"))
    };
    assert_eq!(open(&text("p->x = 1;", "")), Vec::<String>::new());
    assert_eq!(open(&text("", "p->x = 1;")).len(), 1);
}

#[test]
fn what_is_handed_to_a_thread_is_lost() {
    let text = |after: &str| {
        c(&format!("void *t(void *a) {{ *(int *)a = 1; return 0; }}
        int main(void) {{ pthread_t i; for (int k = 0; k < 9; k++) {{ int *p = malloc(4); *p = 0; pthread_create(&i, 0, t, p); {after} }} return 0; }}"))
    };
    assert_eq!(open(&text("")), Vec::<String>::new());
    assert_eq!(open(&text("*p = 2;")).len(), 1);
}

#[test]
fn a_join_of_the_only_thread_ends_its_kind_and_what_that_joined() {
    let text = |joins: &str| {
        c(&format!(
            "int x; void *inner(void *a) {{ x++; return 0; }}
        void *outer(void *a) {{ pthread_t i; pthread_create(&i, 0, inner, 0); {joins} return 0; }}
        int main(void) {{ pthread_t o; pthread_create(&o, 0, outer, 0); pthread_join(o, 0); return x; }}"
        ))
    };
    assert_eq!(open(&text("pthread_join(i, 0);")), Vec::<String>::new());
    assert_eq!(open(&text("")), ["x"]);
}

#[test]
fn a_proof_is_given_unless_something_is_assumed() {
    let text = c("int x; void *t(void *a) { x++; return 0; }
        int main(void) { pthread_t i; pthread_create(&i, 0, t, 0); pthread_join(i, 0); return x; }");
    let mut program = program(&text);
    assert!(matches!(verdict(&program), Verdict::Safe(Proof::Summaries(_))));
    program.assumptions.push(Assumption {
        text: "odd".to_owned(),
        span: Span::default(),
        limits_proof: true,
    });
    let Verdict::Unknown(Reason::NotSupported(why, _)) = verdict(&program) else {
        panic!("no proof is allowed")
    };
    assert_eq!(why, "odd; otherwise it is proved");
    assert!(!annotation(&program).contexts.is_empty());
}

#[test]
fn the_same_program_has_the_same_annotation() {
    let text = c("pthread_mutex_t m; int x; void f(int d) { if (d) { x++; f(d - 1); } }
        void *t(void *a) { pthread_mutex_lock(&m); f(3); pthread_mutex_unlock(&m); return 0; }
        int main(void) { pthread_t i; pthread_create(&i, 0, t, 0); t(0); return 0; }");
    let program = program(&text);
    assert_eq!(annotation(&program), annotation(&program));
}
