//! Threads that loops start and join: safe programs, and ones that differ from them in one place.
//!
//! A proof of a safe program is also tried on the others, as far as these have the same locations: a
//! checker that looks at all of it refuses it.

use crate::engine::annotate;
use checker::check_proof;
use frontend_c::{Options, Source, read};
use ir::Program;
use ir::passes::{self, Lowering};
use verdict::{Budget, Proof, Property, Started, SummariesProof, Task};

fn program(text: &str) -> Program {
    let text = format!("#include <pthread.h>\n#include <stdlib.h>\n{text}");
    let source = Source { name: "test.c".to_owned(), text: text.into_bytes() };
    let program = read(&[source], &Options::default()).expect("a C program");
    passes::concrete(&program, Lowering { races: true, ..Lowering::default() })
}

fn annotation(program: &Program) -> SummariesProof {
    let program = &program.clone().into();
    annotate(Task { program, property: &Property::NoRace }, &Budget::unlimited()).expect("an annotation")
}

fn is_accepted(program: &Program, proof: &SummariesProof) -> Result<(), String> {
    let proof = Proof::Summaries(Box::new(proof.clone()));
    check_proof(&program.clone().into(), &Property::NoRace, &proof, &Budget::seconds(20.0))
        .map_err(|error| error.to_string())
}

/// Whether a proof of one program speaks of the other one, too.
fn have_one_shape(one: &Program, other: &Program) -> bool {
    let shape = |program: &Program| -> Vec<(usize, usize, usize)> {
        let templates = program.templates.iter();
        templates.map(|code| (code.locations.len(), code.edges.len(), code.locals.len())).collect()
    };
    shape(one) == shape(other) && one.objects.len() == other.objects.len()
}

/// Tries a program that is safe, and changes of it that are not: each replaces the first text by the second.
fn try_all(safe: &str, changes: &[(&str, &str)]) {
    let good = program(safe);
    let proof = annotation(&good);
    assert_eq!(is_accepted(&good, &proof), Ok(()), "{safe}");
    let mut forged = 0;
    for (from, to) in changes {
        assert!(safe.contains(from), "{from} is there");
        let bad = program(&safe.replacen(from, to, 1));
        let own = annotation(&bad);
        assert!(is_accepted(&bad, &own).is_err(), "{from} -> {to}");
        if have_one_shape(&good, &bad) {
            forged += 1;
            let refusal = is_accepted(&bad, &proof).expect_err("the proof is of another program");
            println!("{from} -> {to}: {refusal}");
        }
    }
    assert!(forged > 0 || changes.len() < 5, "some changes keep all locations");
}

const HEAP: &str = "
struct w { pthread_t tid; int in; int out; };
static void *run(void *p) { struct w *w = p; w->out = w->in + 1; return 0; }
int main(int argc, char **argv) {
  int n = argc;
  struct w *ws = calloc(n, sizeof *ws);
  int i;
  for (i = 0; i < n; i++) { ws[i].in = i; pthread_create(&ws[i].tid, 0, run, &ws[i]); }
  for (i = 0; i < n; i = i + 1) { pthread_join(ws[i].tid, 0); }
  int sum = 0;
  for (i = 0; i != n; i++) sum += ws[i].out;
  free(ws);
  return sum;
}";

#[test]
fn structures_on_the_heap_one_for_each_thread() {
    try_all(
        HEAP,
        &[
            // Too few are joined.
            ("for (i = 0; i < n; i = i + 1)", "for (i = 1; i < n; i = i + 1)"),
            ("for (i = 0; i < n; i = i + 1)", "for (i = 0; i < n - 1; i = i + 1)"),
            ("for (i = 0; i < n; i = i + 1)", "for (i = 0; i < n; i = i + 2)"),
            ("pthread_join(ws[i].tid, 0)", "pthread_join(ws[0].tid, 0)"),
            ("{ pthread_join(ws[i].tid, 0); }", "{ if (argv) break; pthread_join(ws[i].tid, 0); }"),
            // Handles are lost.
            ("pthread_create(&ws[i].tid", "pthread_create(&ws[0].tid"),
            ("pthread_create(&ws[i].tid", "pthread_create(&ws[i / 2].tid"),
            ("for (i = 0; i < n; i = i + 1)", "ws[0].tid = 0; for (i = 0; i < n; i = i + 1)"),
            ("int sum = 0;", "int sum = 0; pthread_create(&ws[0].tid, 0, run, &ws[0]);"),
            ("free(ws);", "pthread_create(&ws[0].tid, 0, run, &ws[0]); free(ws);"),
            // Arguments are not apart.
            ("run, &ws[i])", "run, &ws[i / 2])"),
            ("run, &ws[i])", "run, &ws[0])"),
            ("run, &ws[i])", "run, (char *)&ws[i / 2] + 4 * i)"),
            // The first thread uses what it has handed over.
            ("{ ws[i].in = i;", "{ ws[0].in = i;"),
            (
                "{ ws[i].in = i; pthread_create(&ws[i].tid, 0, run, &ws[i]); }",
                "{ pthread_create(&ws[i].tid, 0, run, &ws[i]); ws[i].in = i; }",
            ),
            ("{ pthread_join(ws[i].tid, 0); }", "{ ws[i].in = 0; pthread_join(ws[i].tid, 0); }"),
            // A thread uses its neighbour's.
            ("w->out = w->in + 1", "w->out = w[1].out + 1"),
        ],
    );
}

const CELLS: &str = "
int counter;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *run(void *p) { pthread_mutex_lock(&m); counter++; pthread_mutex_unlock(&m); return 0; }
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, run, 0);
  pthread_create(&b, 0, run, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return counter;
}";

#[test]
fn two_threads_of_a_kind_with_a_variable_each() {
    try_all(
        CELLS,
        &[
            ("pthread_join(a, 0)", "pthread_join(b, 0)"),
            ("pthread_join(b, 0)", "pthread_join(a, 0)"),
            ("pthread_create(&b, 0, run, 0)", "pthread_create(&a, 0, run, 0)"),
            ("pthread_join(a, 0);", ""),
            ("pthread_create(&a, 0, run, 0);", "while (counter) pthread_create(&a, 0, run, 0);"),
        ],
    );
}

const ARRAY: &str = "
#define N 4
int results[N];
pthread_t threads[N];
int total;
static void *run(void *p) { int *r = p; *r = *r + 1; return 0; }
static void rest(void) { total++; }
int main(void) {
  for (int i = 0; i < N; i++) { results[i] = i; pthread_create(&threads[i], 0, run, &results[i]); rest(); }
  for (int i = 0; i < N; i++) { pthread_join(threads[i], 0); total += results[i]; }
  return results[0];
}";

#[test]
fn static_arrays_with_a_constant_bound() {
    try_all(
        ARRAY,
        &[
            ("for (int i = 0; i < N; i++) { pthread_join", "for (int i = 0; i < 3; i++) { pthread_join"),
            ("total += results[i];", "total += results[3];"),
            ("run, &results[i])", "run, &results[0])"),
            ("run, &results[i])", "run, (char *)&results[i] - 2 * i)"),
            ("void rest(void) { total++; }", "void rest(void) { threads[0] = 0; }"),
            (
                "void rest(void) { total++; }",
                "void rest(void) { pthread_create(&threads[0], 0, run, &results[0]); }",
            ),
            ("*r = *r + 1;", "r[0] = r[1] + 1;"),
            ("*r = *r + 1;", "threads[0] = 0;"),
        ],
    );
}

const JOINED_AT_ONCE: &str = "
int shared;
static void *run(void *p) { shared++; return 0; }
int main(int argc, char **argv) {
  for (int i = 0; i < argc; i++) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    pthread_join(t, 0);
  }
  shared++;
  return 0;
}";

#[test]
fn a_loop_that_joins_what_it_starts() {
    try_all(
        JOINED_AT_ONCE,
        &[
            ("pthread_join(t, 0);", "if (i) pthread_join(t, 0);"),
            ("pthread_join(t, 0);", "t = 0;"),
            (
                "pthread_create(&t, 0, run, 0);",
                "pthread_create(&t, 0, run, 0); pthread_create(&t, 0, run, 0);",
            ),
            ("pthread_create(&t, 0, run, 0);", "pthread_create(&t, 0, run, 0); shared++;"),
        ],
    );
}

/// Two threads run a function that starts helpers and joins them; what they share is in frames and on the
/// heap.
const HELPERS: &str = "
struct shared { int bound; };
struct part { struct shared *shared; int in; int out; };
struct shared *known;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void keep(struct shared *p) { pthread_mutex_lock(&m); known = 0; pthread_mutex_unlock(&m); }
static void *help(void *p) { struct part *w = p; w->out = w->in + w->shared->bound; return 0; }
static int run(int n, int start) {
  struct shared shared;
  shared.bound = n;
  struct part *parts = calloc(n, sizeof *parts);
  pthread_t *ids = calloc(n, sizeof *ids);
  int i;
  for (i = 0; i < n; i++) { parts[i].shared = &shared; parts[i].in = start; }
  for (i = 0; i < n; i++) { pthread_create(&ids[i], 0, help, &parts[i]); }
  for (i = 0; i < n; i = i + 1) { pthread_join(ids[i], 0); }
  keep(&shared);
  shared.bound = 0;
  int sum = 0;
  for (i = 0; i < n; i++) sum += parts[i].out;
  free(parts);
  free(ids);
  return sum;
}
static void *work(void *p) { int own = run(3, 1); own = run(own, 2); return 0; }
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, work, 0);
  pthread_create(&b, 0, work, 0);
  return 0;
}";

#[test]
fn helpers_of_several_threads() {
    try_all(
        HELPERS,
        &[
            // Too few are joined.
            ("for (i = 0; i < n; i = i + 1)", "for (i = 1; i < n; i = i + 1)"),
            ("for (i = 0; i < n; i = i + 1)", "for (i = 0; i < n - 1; i = i + 1)"),
            ("for (i = 0; i < n; i = i + 1)", "for (i = 0; i < n; i = i + 2)"),
            ("pthread_join(ids[i], 0)", "pthread_join(ids[0], 0)"),
            ("{ pthread_join(ids[i], 0); }", "{ if (start) break; pthread_join(ids[i], 0); }"),
            // Handles are lost.
            ("pthread_create(&ids[i]", "pthread_create(&ids[0]"),
            ("for (i = 0; i < n; i = i + 1)", "ids[0] = 0; for (i = 0; i < n; i = i + 1)"),
            ("int sum = 0;", "int sum = 0; pthread_create(&ids[0], 0, help, &parts[0]);"),
            // Arguments are not apart.
            ("help, &parts[i])", "help, &parts[0])"),
            ("help, &parts[i])", "help, &parts[i / 2])"),
            // The thread uses what its helpers use.
            ("{ pthread_join(ids[i], 0); }", "{ shared.bound = 1; pthread_join(ids[i], 0); }"),
            ("{ pthread_join(ids[i], 0); }", "{ parts[i].in = 1; pthread_join(ids[i], 0); }"),
            (
                "{ pthread_create(&ids[i], 0, help, &parts[i]); }",
                "{ pthread_create(&ids[i], 0, help, &parts[i]); shared.bound = i; }",
            ),
            // A helper uses its neighbour's.
            ("w->out = w->in +", "w->out = w[1].out +"),
            ("w->out = w->in +", "w->shared->bound = w->in +"),
            // Others know what is shared.
            ("known = 0;", "if (known) known->bound = 1; known = p;"),
            // Helpers start helpers.
            ("w->out = w->in", "pthread_t t; pthread_create(&t, 0, help, p); w->out = w->in"),
        ],
    );
}

/// Claims about helpers that are put into a proof which is right otherwise.
#[test]
fn forged_claims_about_helpers() {
    let good = program(HELPERS);
    let proof = annotation(&good);
    assert_eq!(is_accepted(&good, &proof), Ok(()));
    let [team] = &proof.teams[..] else { panic!("there is one kind of helpers") };
    assert!(!team.objects.is_empty() && team.apart > 0);
    let refused = |forged: SummariesProof| {
        assert_ne!(forged, proof);
        is_accepted(&good, &forged).expect_err("it is forged")
    };
    // That there are no helpers while there are.
    let mut tried = 0;
    for (number, context) in proof.contexts.iter().enumerate() {
        for (location, facts) in context.facts.iter().enumerate() {
            let Some(facts) = facts else { continue };
            let is_none = |started: &&Started| started.own && started.members.is_empty();
            let starts = context.starts.contains(&team.helper);
            if !starts || facts.started.iter().any(|started| is_none(&started)) {
                continue;
            }
            let mut forged = proof.clone();
            if let Some(facts) = &mut forged.contexts[number].facts[location] {
                facts.started = vec![Started { kind: team.helper, own: true, members: Vec::new() }];
            }
            let refusal = refused(forged);
            assert!(refusal.contains("are among those listed"), "{refusal}");
            tried += 1;
        }
    }
    assert!(tried > 2, "helpers run somewhere");
    // That arguments are further apart than they are, and that more is shared with helpers alone.
    let mut forged = proof.clone();
    forged.teams[0].apart *= 2;
    assert!(refused(forged).contains("apart from one another"));
    // That there is one at a time.
    let mut forged = proof.clone();
    forged.teams[0].alone = true;
    assert!(refused(forged).contains("at most one thread"));
    for (kind, code) in good.templates.enumerate().filter(|(_, code)| ["work", "help"].contains(&&*code.name))
    {
        let mut forged = proof.clone();
        forged.alone.push(kind);
        let refusal = refused(forged);
        assert!(refusal.contains("at most one thread"), "{}: {refusal}", code.name);
    }
    for (object, described) in good.objects.enumerate() {
        if !proof.private.contains(&object) && !team.objects.contains(&object) {
            let mut forged = proof.clone();
            forged.teams[0].objects.push(object);
            forged.teams[0].objects.sort_unstable();
            let refusal = refused(forged);
            assert!(refusal.contains("no object of a thread"), "{}: {refusal}", described.name);
        }
    }
    // That others are the helpers.
    for kind in good.templates.ids().filter(|kind| *kind != team.helper) {
        let mut forged = proof.clone();
        forged.teams[0].helper = kind;
        refused(forged);
    }
}

const ROUNDS: &str = "
int results[4], last;
struct part { int at; int values[4]; };
void *round(void *p) { results[last & 3] = last; return 0; }
void *help(void *p) { struct part *part = p; part->values[part->at & 3] = 1; return 0; }
void *work(void *p) {
  struct part part;
  pthread_t helper;
  for (int i = 0; i < 3; i++) {
    part.at = i;
    pthread_create(&helper, 0, help, &part);
    pthread_join(helper, 0);
  }
  return 0;
}
int main(void) {
  pthread_t id, one, other;
  for (int i = 0; i < 3; i++) {
    last = i;
    pthread_create(&id, 0, round, 0);
    pthread_join(id, 0);
  }
  pthread_create(&one, 0, work, 0);
  pthread_create(&other, 0, work, 0);
  return 0;
}";

#[test]
fn one_at_a_time() {
    try_all(
        ROUNDS,
        &[
            ("pthread_join(id, 0);", "if (i) pthread_join(id, 0);"),
            ("pthread_join(helper, 0);", "if (i) pthread_join(helper, 0);"),
            ("help, &part);", "help, &part); pthread_create(&helper, 0, help, &part);"),
            ("int main(void) {", "int main(void) { pthread_t first; pthread_create(&first, 0, round, 0);"),
            ("pthread_join(id, 0);", "pthread_join(one, 0);"),
            ("pthread_join(helper, 0);", "pthread_join((pthread_t)p, 0);"),
        ],
    );
}

const GLOBAL: &str = "
struct worker { pthread_t thread; int in; int out; };
struct { int verbose; unsigned count; } settings;
struct worker *workers;
int total, finished;
void *work(void *p) {
  struct worker *w = p;
  w->out = w->in + total;
  return 0;
}
int start_all(void) {
  for (unsigned i = 0; i < settings.count; i = i + 1) {
    struct worker *w = workers + i;
    w->in = i;
    if (pthread_create(&w->thread, 0, work, w)) return 1;
  }
  return 0;
}
void join_all(void) {
  for (unsigned i = 0; i < settings.count; i = i + 1) {
    pthread_join(workers[i].thread, 0);
    total = total;
    settings.verbose = 1;
  }
}
int main(int argc, char **argv) {
  settings.count = argc;
  workers = calloc(argc, sizeof *workers);
  total = 3;
  if (start_all()) return 1;
  finished = 0;
  join_all();
  total = 4;
  free(workers);
  return 0;
}";

#[test]
fn bounds_and_arrays_in_globals() {
    let safe = &GLOBAL.replace("    total = total;\n", "    finished = i;\n");
    try_all(
        safe,
        &[
            // Too few are joined.
            (
                "for (unsigned i = 0; i < settings.count; i = i + 1) {\n    pthread_join",
                "for (unsigned i = 1; i < settings.count; i = i + 1) {\n    pthread_join",
            ),
            ("i = i + 1) {\n    pthread_join", "i = i + 2) {\n    pthread_join"),
            ("workers[i].thread", "workers[0].thread"),
            ("{\n    pthread_join", "{\n    if (total) return;\n    pthread_join"),
            // The bound or the array is another one.
            ("finished = 0;", "settings.count = 1;"),
            ("finished = 0;", "workers = workers + 1;"),
            ("settings.verbose = 1", "settings.count = 1"),
            ("w->in = i;", "settings.count = i + 2;"),
            ("w->out = w->in", "settings.count = 1; w->out = w->in"),
            ("w->out = w->in", "workers = w; w->out = w->in"),
            // Ids are lost.
            ("finished = 0;", "workers->thread = 0;"),
            ("&w->thread, 0, work, w)", "&workers->thread, 0, work, w)"),
            // While they run.
            ("finished = i;", "total = i;"),
            ("finished = 0;", "total = 0;"),
            ("&w->thread, 0, work, w)) return 1;", "&w->thread, 0, work, w)) return 1;\n    total = 1;"),
        ],
    );
}

const PARAMETERS: &str = "
struct worker { pthread_t thread; int in; int out; };
int total;
void *work(void *p) {
  struct worker *w = p;
  w->out = w->in + total;
  return 0;
}
void start_all(struct worker *workers, int n) {
  for (int i = 0; i < n; i = i + 1) {
    workers[i].in = i;
    pthread_create(&workers[i].thread, 0, work, &workers[i]);
  }
}
void join_all(struct worker *workers, int n) {
  for (int i = 0; i < n; i = i + 1) { pthread_join(workers[i].thread, 0); }
}
int main(int argc, char **argv) {
  struct worker workers[8];
  if (argc > 8) return 1;
  total = 3;
  start_all(workers, argc);
  join_all(workers, argc);
  total = 4;
  return workers[0].out;
}";

#[test]
fn bounds_and_arrays_in_parameters() {
    try_all(
        PARAMETERS,
        &[
            ("join_all(workers, argc)", "join_all(workers, argc - 1)"),
            ("join_all(workers, argc)", "join_all(workers + 1, argc)"),
            ("join_all(workers, argc)", "join_all(workers, 1)"),
            ("start_all(workers, argc)", "start_all(workers, argc + 1)"),
            ("start_all(workers, argc)", "start_all(workers, argc); start_all(workers, argc)"),
            ("{ pthread_join(workers[i]", "{ n = 1; pthread_join(workers[i]"),
            ("workers[i].in = i;", "workers = workers + 1;"),
            ("total = 3;\n  start_all(workers, argc);", "start_all(workers, argc);\n  total = 3;"),
        ],
    );
}

const WIDE: &str = "
#include <stddef.h>
struct worker { pthread_t thread; int in; int out; };
int total;
void *work(void *p) {
  struct worker *w = p;
  w->out = w->in + total;
  return 0;
}
int main(int argc, char **argv) {
  struct worker workers[8];
  unsigned n = argc;
  if (n > 8) return 1;
  for (size_t i = 0; i < n; i++) {
    if (i == 0) total = 3;
    workers[i].in = i;
    pthread_create(&workers[i].thread, 0, work, &workers[i]);
  }
  for (size_t i = 0; i < n; i++) pthread_join(workers[i].thread, 0);
  total = 4;
  return workers[0].out;
}";

#[test]
fn wide_indices() {
    try_all(
        WIDE,
        &[
            ("if (i == 0)", "if (i == 1)"),
            ("if (i == 0)", "if (i <= 1)"),
            ("for (size_t i = 0; i < n; i++) pthread_join", "for (size_t i = 1; i < n; i++) pthread_join"),
            ("for (size_t i = 0; i < n; i++) pthread_join", "for (size_t i = 0; i < 2; i++) pthread_join"),
            ("pthread_join(workers[i].thread, 0);\n", "{ pthread_join(workers[i].thread, 0); total = 1; }\n"),
        ],
    );
}

/// Where the index is a constant, the place in a row is one, too.
#[test]
fn an_index_that_is_known() {
    let safe = "
pthread_mutex_t m[2];
int v[4];
static void *idle(void *p) { return p; }
int main(void) {
  int i = 0;
  pthread_t one, two;
  pthread_create(&one, 0, idle, 0);
  pthread_create(&two, 0, idle, 0);
  pthread_mutex_lock(&m[1]);
  pthread_mutex_lock(&m[i & 1]);
  v[i]++;
  pthread_mutex_unlock(&m[i & 1]);
  pthread_mutex_unlock(&m[1]);
  return 0;
}";
    try_all(safe, &[("return p;", "v[0] = 1; return p;"), ("return p;", "v[1] = 1; return p;")]);
}

/// What is known of numbers is left out where it is far away.
#[test]
fn numbers_that_are_far_apart() {
    let safe = "
int v;
static void *idle(void *p) { return p; }
int main(void) {
  unsigned n = 0;
  if (!(n < n)) return 1;
  pthread_t one, two;
  pthread_create(&one, 0, idle, (void *)1);
  pthread_create(&two, 0, idle, (void *)2);
  return n == (unsigned)v;
}";
    try_all(safe, &[("return p;", "v = 1; return p;")]);
}
