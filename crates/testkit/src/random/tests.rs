//! Random programs are well formed, small, of all kinds, and C.

use super::{Source, random_c, random_program};
use ir::semantics::{Choice, Choices, Machine, State, Stuck};
use std::collections::HashSet;
use std::io::Write;
use std::process::{Command, Stdio};

/// Answers from a list, then 0; remembers how many were asked for.
struct Script<'a> {
    answers: &'a [i128],
    asked: usize,
}

impl Choices for Script<'_> {
    fn choose(&mut self, choice: Choice) -> i128 {
        assert_eq!(choice.ty, ir::IntType::BOOL, "all inputs are Booleans");
        self.asked += 1;
        self.answers.get(self.asked - 1).copied().unwrap_or(0)
    }
}

#[derive(Default, Debug)]
struct Explored {
    states: usize,
    error: bool,
    race: bool,
    deadlock: bool,
}

/// Visits all states; complains about operations without a meaning.
fn explore(program: &ir::Program, limit: usize) -> Explored {
    let machine = Machine::new(program).expect("it fits");
    let first = machine.initial(&[1]).expect("it fits");
    let mut seen: HashSet<State> = HashSet::from([first.clone()]);
    let mut open = vec![first];
    let mut explored = Explored::default();
    while let Some(state) = open.pop() {
        explored.states += 1;
        explored.error |= machine.error(&state).is_some();
        explored.race |= machine.race(&state).is_some();
        explored.deadlock |= machine.deadlock(&state).is_some();
        if explored.states > limit {
            break;
        }
        for thread in machine.schedulable(&state) {
            for &edge in machine.edges(&state, thread) {
                for answer in [0, 1] {
                    let mut script = Script { answers: &[answer], asked: 0 };
                    match machine.step(&state, thread, edge, &mut script).result {
                        Ok(next) => {
                            if seen.insert(next.clone()) {
                                open.push(next);
                            }
                        }
                        Err(Stuck::Blocked) => {}
                        Err(stuck) => panic!("{stuck:?}"),
                    }
                    if script.asked == 0 {
                        break;
                    }
                }
            }
        }
    }
    explored
}

#[test]
fn programs_are_well_formed_and_one_access_at_a_time() {
    for seed in 0..2000 {
        let program = random_program(seed);
        assert_eq!(ir::check::check(&program), Ok(()), "seed {seed}");
        assert_eq!(ir::text::parse(&ir::text::print(&program)).as_ref(), Ok(&program), "seed {seed}");
        for template in &program.templates {
            for edge in &template.edges {
                assert!(edge.ops.len() <= 1, "seed {seed}");
            }
        }
    }
}

#[test]
fn programs_are_small_and_of_all_kinds() {
    let limit = 50_000;
    let (mut errors, mut races, mut deadlocks, mut clean, mut most, mut total) = (0, 0, 0, 0, 0, 0);
    let count = 150;
    for seed in 0..count {
        let explored = explore(&random_program(seed), limit);
        assert!(explored.states <= limit, "seed {seed} has more states:\n{}", random_c(seed));
        errors += usize::from(explored.error);
        races += usize::from(explored.race);
        deadlocks += usize::from(explored.deadlock);
        clean += usize::from(!explored.error && !explored.race && !explored.deadlock);
        most = most.max(explored.states);
        total += explored.states;
    }
    println!(
        "{count} programs: {errors} errors, {races} races, {deadlocks} deadlocks, {clean} without; at most {most} states, {} on average",
        total / count as usize
    );
    assert!(errors > 20 && races > 20 && clean > 20);
}

#[test]
fn the_text_is_c() {
    if Command::new("gcc").arg("--version").stdout(Stdio::null()).status().is_err() {
        eprintln!("no gcc here: not tested");
        return;
    }
    for seed in 0..40 {
        let arguments = [
            "-std=gnu11",
            "-fsyntax-only",
            "-Wall",
            "-Wno-unused",
            "-Wno-tautological-compare",
            "-Wno-bool-compare",
            "-x",
            "c",
            "-",
        ];
        let mut gcc = Command::new("gcc")
            .args(arguments)
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("gcc starts");
        gcc.stdin.take().expect("it is piped").write_all(random_c(seed).as_bytes()).expect("gcc reads");
        let output = gcc.wait_with_output().expect("gcc ends");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && message.is_empty(), "seed {seed}:\n{message}\n{}", random_c(seed));
    }
}

#[test]
fn the_same_seed_gives_the_same_program() {
    for seed in 0..50 {
        assert_eq!(random_c(seed), random_c(seed));
        assert_eq!(random_program(seed), Source::new(seed).program());
    }
    assert_ne!(random_c(1), random_c(2));
}
