//! Tests of listings and of the searches for races on single locations.

use super::*;
use engine_explicit::Explicit;
use ir::passes::PointsTo;
use ir::passes::footprint::accesses;
use ir::{ObjectId, Target};
use verdict::{LocationAccess, LocationStatus, Reached, SharedLocation};

/// Both variables race, and `z` does not.
const TEXT: &str = "#include <pthread.h>\nint x, y, z;\n\
    void *worker(void *a) { x = 1; y = 1; return 0; }\n\
    int main(void) { pthread_t t; z = 1; pthread_create(&t, 0, worker, 0); x = 2; y = 2; return 0; }\n";

fn read() -> Program {
    let source = frontend_c::Source { name: "a.c".to_owned(), text: TEXT.into() };
    frontend_c::read(&[source], &frontend_c::Options::default()).expect("it is C")
}

/// Everything that is accessed by name, as if only `z` were proved race-free.
fn list(task: Task<'_>, _: &Budget) -> Result<Listed, Reason> {
    let program = task.program;
    let points_to = PointsTo::of(program);
    let of = |object: ObjectId| {
        let mut found = Vec::new();
        for (template, code) in program.templates.enumerate() {
            for (edge, op) in
                code.edges.enumerate().flat_map(|(id, edge)| edge.ops.iter().map(move |op| (id, op)))
            {
                for access in accesses(&points_to, template, op) {
                    if access.region.objects().is_some_and(|mut objects| objects.any(|other| other == object))
                    {
                        let (write, atomic) = (access.write, access.atomic);
                        let locks = Vec::new();
                        found.push(LocationAccess { template, edge, kind: template, write, atomic, locks });
                    }
                }
            }
        }
        found
    };
    let named = |name: &str| program.objects.enumerate().find(|(_, object)| object.name == name);
    let locations = ["x", "y", "z"].into_iter().filter_map(named).map(|(object, described)| {
        let status = match described.name.as_str() {
            "z" => LocationStatus::RaceFree(vec![verdict::WhyNoRace::OneThread]),
            _ => LocationStatus::Open(vec![(0, 1)]),
        };
        let cell = Target { object, first: 0, stride: 0, count: 1 };
        SharedLocation { cell, size: 4, accesses: of(object), more: 0, status }
    });
    let reached = Reached { functions: (2, 2), thread_starts: (1, 1) };
    Ok(Listed {
        refused: None,
        proof: SummariesProof::default(),
        locations: Locations { locations: locations.collect(), reached },
    })
}

fn statuses(memory: &SharedMemory) -> Vec<(&str, &str)> {
    memory.locations.iter().map(|found| (found.name.as_str(), found.status.name())).collect()
}

/// Decides, with an engine for the whole check and one for single locations.
fn decide(lister: &Lister<'_>, answer: &dyn Fn(&Views, &Budget) -> Outcome, live: &Live) {
    let prepared = pipeline::prepare(&read(), Check::Races);
    live.begin(Check::Races);
    let (explorer, budget) = (Explicit::default(), Budget::steps_for(120.0));
    let races = Races {
        prepared: &prepared,
        lister,
        answer: Some(answer),
        explorer: Some(&explorer),
        sources: None,
        live,
        budget,
    };
    races.decide(Earlier::default());
}

fn undecided() -> Outcome {
    whole(Checked::Unknown(Reason::GaveUp("not asked".to_owned())), Instant::now(), Vec::new())
}

#[test]
fn one_run_finds_the_races_on_all_locations() {
    let live = Live::default();
    let explore = |program: &Views, budget: &Budget| {
        pipeline::verify_prepared(program, Check::Races, &Explicit::default(), budget, &Silent)
    };
    decide(&list, &explore, &live);
    let memory = live.memory().expect("there is a listing");
    assert_eq!(statuses(&memory), [("x", "race"), ("y", "race"), ("z", "race-free")]);
    let outcomes = live.outcomes();
    let found: Vec<(Option<&str>, bool)> = outcomes
        .iter()
        .map(|outcome| (outcome.variable.as_deref(), matches!(outcome.verdict, Checked::Refuted(_))))
        .collect();
    assert!(found[0] == (None, true) && found.len() == 2, "{found:?}");
    assert!(found[1].1 && found[1].0.is_some(), "{found:?}");
}

#[test]
fn a_race_on_one_location_answers_the_whole_check() {
    let live = Live::default();
    decide(&list, &|_, _| undecided(), &live);
    let outcomes = live.outcomes();
    assert!(outcomes[0].variable.is_none() && matches!(outcomes[0].verdict, Checked::Refuted(_)));
    assert_eq!(outcomes[0].tries[0].engine, NAME);
    assert_eq!(report::Answer::of(&outcomes, &[]), report::Answer::False(Check::Races));
}

#[test]
fn what_is_listed_is_kept_whatever_the_engines_do() {
    let live = Live::default();
    let interrupted = live.clone();
    let answer = |_: &Views, _: &Budget| {
        let partial = interrupted.partial(Exhausted::Time);
        let memory = partial.memory.expect("there is a listing before engines run");
        assert_eq!(statuses(&memory), [("x", "open"), ("y", "open"), ("z", "race-free")]);
        assert_eq!(partial.outcomes.len(), 1);
        undecided()
    };
    decide(&list, &answer, &live);
}

#[test]
fn without_a_listing_there_is_an_answer() {
    let live = Live::default();
    let crash =
        |_: Task<'_>, _: &Budget| -> Result<Listed, Reason> { panic!("a case that was not thought of") };
    decide(&crash, &|_, _| undecided(), &live);
    let memory = live.memory().expect("what is accessed by name is listed");
    assert_eq!(statuses(&memory), [("x", "race"), ("y", "race")]);
    assert!(memory.incomplete.is_some());
    let outcomes = live.outcomes();
    let End::Unknown(Reason::Crashed(why)) = &outcomes[0].tries[0].end else { panic!("{outcomes:?}") };
    assert_eq!(why, "summaries crashed: a case that was not thought of");
}

/// The statuses of a program's locations with their reasons, and what is known of the whole, after a run
/// without other engines.
fn searched(text: &str) -> (Vec<(String, &'static str, String)>, Vec<Outcome>) {
    let source = frontend_c::Source { name: "a.c".to_owned(), text: text.into() };
    let program = frontend_c::read(&[source], &frontend_c::Options::default()).expect("it is C");
    let prepared = pipeline::prepare(&program, Check::Races);
    let live = Live::default();
    live.begin(Check::Races);
    let sources = Sources::new(&program.files, &[("a.c".to_owned(), text.to_owned())], |_| None);
    let explorer = Explicit { options: engine_explicit::Options { threads: &[2], ..Default::default() } };
    Races {
        prepared: &prepared,
        lister: &by_summaries,
        answer: Some(&|_: &Views, _: &Budget| undecided()),
        explorer: Some(&explorer),
        sources: Some(&sources),
        live: &live,
        budget: Budget::steps_for(4.0),
    }
    .decide(Earlier::default());
    let memory = live.memory().expect("there is a listing");
    let found = memory.locations.iter();
    let found = found.map(|found| (found.name.clone(), found.status.name(), found.because()));
    (found.collect(), live.outcomes())
}

fn program(name: &str) -> String {
    let path = format!("{}/../../tests/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).expect("it is there")
}

#[test]
fn a_race_after_a_queue_of_jobs_is_found() {
    let (found, outcomes) = searched(&program("programs/listing/pool-broken.c"));
    assert!(found.iter().any(|(name, status, _)| name == "keep_alive" && *status == "race"), "{found:?}");
    assert_eq!(report::Answer::of(&outcomes, &[]), report::Answer::False(Check::Races));
}

/// The locations that the checker accepts as race-free, and the others.
fn sorted_out(text: &str) -> [Vec<String>; 2] {
    let source = frontend_c::Source { name: "a.c".to_owned(), text: text.into() };
    let program = frontend_c::read(&[source], &frontend_c::Options::default()).expect("it is C");
    let prepared = pipeline::prepare(&program, Check::Races);
    let task = Task { program: &prepared, property: &Property::NoRace };
    let listed = by_summaries(task, &Budget::unlimited()).expect("there is a listing");
    let memory = SharedMemory::of(&prepared, &listed.locations, None);
    assert_eq!(memory.incomplete, None);
    let of = |is_free: bool| {
        let found = memory.locations.iter();
        let found = found.filter(|found| matches!(found.status, Status::RaceFree(_)) == is_free);
        found.map(|found| found.name.clone()).collect()
    };
    [of(true), of(false)]
}

#[test]
fn a_refused_claim_leaves_the_rest_of_the_listing() {
    let text = program("programs/listing/copied-part-broken.c");
    let [free, open] = sorted_out(&text);
    assert!(free.contains(&"count".to_owned()), "{free:?} {open:?}");
    assert!(open.contains(&"done".to_owned()), "{free:?} {open:?}");
    // Without the lock nothing is race-free but what threads do not share.
    let unlocked = text.replace("pthread_mutex_lock(&lock);", "").replace("pthread_mutex_unlock(&lock);", "");
    let [free, open] = sorted_out(&unlocked);
    assert!(!free.contains(&"count".to_owned()), "{free:?} {open:?}");
    assert!(open.iter().any(|name| name.starts_with("last")), "{free:?} {open:?}");
}

/// A program with many threads of one kind that access a variable in so many lines.
fn with_accesses(count: usize, racing: usize) -> String {
    let mut text = "#include <pthread.h>\nint x; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n".to_owned();
    text.push_str("void *worker(void *a) {\n");
    for number in 0..count {
        text.push_str(&match number < racing {
            true => format!("x = {number};\n"),
            false => format!("pthread_mutex_lock(&m); x = {number}; pthread_mutex_unlock(&m);\n"),
        });
    }
    text.push_str("return 0; }\nint main(void) { pthread_t t, u;\n");
    text.push_str("pthread_create(&t, 0, worker, 0); pthread_create(&u, 0, worker, 0); return 0; }\n");
    text
}

#[test]
fn locations_with_many_accesses_name_some_and_count_the_rest() {
    for (racing, expected) in [(0, "race-free"), (1, "open"), (300, "open")] {
        let text = with_accesses(300, racing);
        let source = frontend_c::Source { name: "a.c".to_owned(), text: text.into() };
        let program = frontend_c::read(&[source], &frontend_c::Options::default()).expect("it is C");
        let prepared = pipeline::prepare(&program, Check::Races);
        let task = Task { program: &prepared, property: &Property::NoRace };
        let listed = by_summaries(task, &Budget::unlimited()).expect("there is a listing");
        let memory = SharedMemory::of(&prepared, &listed.locations, None);
        let [found] = memory.locations.as_slice() else { panic!("{:?}", memory.locations) };
        assert_eq!(found.status.name(), expected, "{racing}");
        assert_eq!((found.accesses.len(), found.more), (128, 300 - 128), "{racing}");
        if let Status::Open(pairs) = &found.status {
            // The access without a lock is in each pair.
            let holds_none = |pair: &(usize, usize)| {
                found.pair(*pair).is_some_and(|pair| pair.iter().any(|access| access.locks.is_empty()))
            };
            assert!(!pairs.is_empty() && pairs.iter().all(holds_none), "{racing}");
        }
    }
}

#[test]
fn races_of_everyday_programs_are_found_and_nothing_else() {
    // The first ones must be found; no others race.
    let cases: [(&str, usize, &[&str]); 2] =
        [("argument", 1, &["alive"]), ("pool-start", 1, &["pool->alive", "keep_alive"])];
    for (name, required, known) in cases {
        let (found, outcomes) = searched(&program(&format!("programs/listing/{name}-broken.c")));
        let races = found.iter().filter(|(_, status, _)| *status == "race");
        let races: Vec<&str> = races.map(|(name, ..)| name.split(' ').next().unwrap_or(name)).collect();
        assert!(races.iter().all(|race| known.contains(race)), "{name}: {found:?}");
        assert!(known[..required].iter().all(|race| races.contains(race)), "{name}: {found:?}");
        assert_eq!(report::Answer::of(&outcomes, &[]), report::Answer::False(Check::Races), "{name}");
    }
}

#[test]
fn what_is_possible_has_a_condition_and_is_never_a_violation() {
    let cases = [
        ("possible/condition.c", "shared", "if `umask` in a.c:11 gives 4"),
        (
            "possible/handler.c",
            "held",
            "if a signal arrives in another thread whose handler is set in a.c:12",
        ),
        (
            "possible/reload.c",
            "reload",
            "if a signal arrives in another thread whose handler is set in a.c:27",
        ),
    ];
    for (name, location, condition) in cases {
        let (found, outcomes) = searched(&program(name));
        let (_, status, because) =
            found.iter().find(|(name, _, _)| name == location).unwrap_or_else(|| panic!("{found:?}"));
        assert_eq!(*status, "possible", "{found:?}");
        assert!(because.contains(condition), "{because}");
        assert!(found.iter().all(|(_, status, _)| *status != "race"), "{found:?}");
        assert!(matches!(report::Answer::of(&outcomes, &[]), report::Answer::Unknown(_)), "{name}");
    }
}
