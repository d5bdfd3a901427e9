//! Runs engines on a case, and compares their verdicts with exploration.

use crate::case::{Case, Kind};
use crate::compiled::Compiler;
use checker::Checked;
use engine_context::ContextInference;
use engine_explicit::Explicit;
use engine_flow::Flow;
use engine_horn::Horn;
use engine_horn::symbolic::Symbolic;
use engine_queries::Queries;
use engine_states::Counting;
use engine_summaries::Summaries;
use ir::passes::PointsTo;
use portfolio::Portfolio;
use portfolio::pipeline;
use portfolio::runs::{Runs, WithReduction};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
use testkit::oracle::{Observed, explore};
use verdict::{Budget, Check, Engine, Property, Silent, Task, Views};

/// Who is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asked {
    /// Explores all interleavings.
    Explicit,
    /// Proves by data flow.
    Flow,
    /// Proves by procedure summaries.
    Summaries,
    /// Proves by Horn clauses.
    Horn,
    /// Thread states.
    States,
    /// Counts of thread states.
    Counters,
    /// Asks the other threads.
    Queries,
    /// Infers contexts of threads.
    Context,
    /// Executions with inputs as formulas.
    Symbolic,
    /// All of them, side by side.
    Portfolio,
    /// The program as gcc compiles it.
    Compiled,
}

impl Asked {
    /// Everyone.
    pub const ALL: [Self; 11] = [
        Self::Explicit,
        Self::Flow,
        Self::Summaries,
        Self::Horn,
        Self::States,
        Self::Counters,
        Self::Queries,
        Self::Context,
        Self::Symbolic,
        Self::Portfolio,
        Self::Compiled,
    ];

    /// The name, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Explicit => "explicit",
            Self::Flow => "flow",
            Self::Summaries => "summaries",
            Self::Horn => "horn",
            Self::States => "states",
            Self::Counters => "counters",
            Self::Queries => "queries",
            Self::Context => "context",
            Self::Symbolic => "symbolic",
            Self::Portfolio => "portfolio",
            Self::Compiled => "compiled",
        }
    }

    /// Who is asked about the program with this number, if there is no time to ask all: the fast ones often,
    /// the others in turn, the portfolio (which asks them all) and the compiler now and then.
    pub fn in_turn(case: &Case, seed: u64, seen: Observed) -> Vec<Self> {
        let slow = [Self::Horn, Self::States, Self::Queries, Self::Context, Self::Symbolic];
        // Seeds are taken in strides, so the turn does not depend on what else they decide.
        let turn = slow[(seed / 16 % slow.len() as u64) as usize];
        match case.kind {
            Kind::Wide => Self::of_wide(case.check, seed, seen, turn),
            Kind::Wild | Kind::Tame => {
                let turn = slow[(seed % slow.len() as u64) as usize];
                let mut asked = vec![Self::Explicit, Self::Flow, Self::Summaries, turn];
                asked.extend(seed.is_multiple_of(16).then_some(Self::Portfolio));
                asked
            }
            Kind::Boolean => {
                let turn = slow[(seed % slow.len() as u64) as usize];
                let mut asked = vec![Self::States, Self::Counters, turn];
                asked.extend(seed.is_multiple_of(16).then_some(Self::Portfolio));
                asked
            }
        }
    }

    /// The engines that run on a wide program. If there is a violation, every proof is wrong, so the engines
    /// that prove most run on all of these, and one of the slow ones on every fourth. Otherwise a proof is
    /// wrong only if executions violate its claims, and violations are replayed on the oracle's own machine,
    /// so a sample suffices. `summaries` handles only races.
    fn of_wide(check: Check, seed: u64, seen: Observed, turn: Self) -> Vec<Self> {
        let every = |times: u64, who: Self| seed.is_multiple_of(times).then_some(who);
        let summaries = (check == Check::Races).then_some(Self::Summaries);
        let asked: [Option<Self>; 6] = match seen {
            Observed::Violation => {
                [Some(Self::Flow), summaries, every(4, turn), every(4, Self::Explicit), None, None]
            }
            Observed::Nothing | Observed::Partial => [
                every(4, Self::Flow),
                summaries,
                every(32, turn),
                every(8, Self::Explicit),
                every(256, Self::Portfolio),
                every(128, Self::Compiled),
            ],
            Observed::Bounded => [None; 6],
        };
        let portfolio = every(256, Self::Portfolio).filter(|_| seen == Observed::Violation);
        asked.into_iter().flatten().chain(portfolio).collect()
    }

    /// Everyone who knows programs of a kind.
    pub fn all(kind: Kind) -> Vec<Self> {
        let counts = |asked: &Self| match asked {
            Self::Counters => kind == Kind::Boolean,
            Self::Compiled => kind != Kind::Boolean,
            _ => true,
        };
        Self::ALL.into_iter().filter(counts).collect()
    }

    /// Whether the portfolio gives it programs with atomic runs.
    fn takes_runs(self) -> bool {
        matches!(self, Self::Horn | Self::States | Self::Queries | Self::Context)
    }

    /// What it says of a case, with evidence that was checked, and what came of each engine.
    fn answer(self, case: &Case, program: &Views, budget: &Budget) -> (Checked, Vec<report::Tried>) {
        // As in the portfolio, some are asked about atomic runs, where there is no race.
        let property = case.check.property();
        let task = Task { program, property: &property };
        let errors = matches!(property, Property::NoError(_)) && case.kind != Kind::Boolean;
        let runs = (errors && self.takes_runs() && case.text.len().is_multiple_of(2))
            .then(|| Runs::of(task, &Flow, budget));
        let by = |engine: &dyn Engine| {
            let engine = WithReduction { engine, runs: runs.iter().flatten().next() };
            let attempted = pipeline::attempt(task, &engine, budget, budget, &Silent);
            (attempted.verdict, vec![attempted.tried])
        };
        match self {
            Self::Explicit => by(&Explicit::default()),
            Self::Flow => by(&Flow),
            Self::Summaries => by(&Summaries),
            Self::Horn => by(&Horn),
            Self::States => by(&portfolio::STATES),
            Self::Counters => by(&Counting),
            Self::Queries => by(&Queries::default()),
            Self::Context => by(&ContextInference::OmegaCirc),
            Self::Symbolic => by(&Symbolic),
            Self::Portfolio | Self::Compiled => {
                let boolean = case.kind == Kind::Boolean;
                let portfolio = Portfolio { boolean, jobs: 2, to_the_end: true, ..Portfolio::default() };
                let outcome = portfolio.verify_prepared(program, case.check, budget);
                (outcome.verdict, outcome.tries)
            }
        }
    }
}

/// What someone said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// It holds.
    Proved,
    /// It is violated.
    Refuted,
    /// Neither.
    Unknown,
}

/// What came of a case.
pub struct Examined {
    /// What exploration shows.
    pub seen: Observed,
    /// What was said, and how long that took.
    pub answers: Vec<(Asked, Answer, Duration)>,
    /// Who is wrong, and how.
    pub wrong: Vec<(Asked, String)>,
    /// How long it took to read the program, and to explore it.
    pub reading: Duration,
    /// See `reading`.
    pub exploring: Duration,
}

/// Seconds after which nothing more is waited for.
const HANGS: f64 = 300.0;

/// Asks about a case, each for as many steps as some seconds stand for; who is asked depends on what
/// exploration shows. Without a compiler, nobody compiles.
pub fn examine(
    case: &Case,
    asked: impl FnOnce(Observed) -> Vec<Asked>,
    seconds: f64,
    compiler: Option<&Compiler>,
) -> Result<Examined, String> {
    let start = Instant::now();

    let prepared = pipeline::prepare(&case.read()?, case.check);
    let reading = start.elapsed();
    let seen = explore(&prepared, &case.check.property(), case.bounds());
    let exploring = start.elapsed() - reading;
    let mut examined = Examined { seen, answers: vec![], wrong: vec![], reading, exploring };
    // C programs that are too large for the oracle would only take time.
    if seen == Observed::Bounded && case.kind != Kind::Boolean {
        return Ok(examined);
    }
    // Where bounds are checked and nothing goes wrong, pointers stay in their objects. `flow` rests on
    // points-to sets most of all.
    if seen == Observed::Nothing
        && matches!(case.check, Check::Bounds | Check::Deref)
        && let Err(error) = checker::try_points_to(&prepared, &Budget::steps_for(seconds))
    {
        examined.wrong.push((Asked::Flow, error.to_string()));
    }
    if let Ok(Err(wrong)) =
        checker::test_points_to(&prepared, &PointsTo::of(&prepared), &Budget::steps_for(seconds))
    {
        examined.wrong.push((Asked::Flow, format!("points-to sets are not closed: {wrong}")));
    }
    for who in asked(seen) {
        let start = Instant::now();
        if who == Asked::Compiled {
            examined.compare(who, compiled(case, seen, compiler), start.elapsed());
            continue;
        }
        // What is answered depends on the seed alone; the clock ends only what hangs.
        let budget = Budget { deadline: Budget::seconds(HANGS).deadline, ..Budget::steps_for(seconds) };
        let outcome = catch_unwind(AssertUnwindSafe(|| who.answer(case, &prepared, &budget)));
        let Ok((verdict, tries)) = outcome else {
            examined.wrong.push((who, "panics".to_owned()));
            continue;
        };
        let answer = match &verdict {
            Checked::Proved(_) => Answer::Proved,
            Checked::Refuted(_) => Answer::Refuted,
            Checked::Unknown(_) => Answer::Unknown,
        };
        for tried in tries.iter().filter(|tried| !tried.rejected.is_empty()) {
            let how = match &tried.end {
                report::End::Unknown(reason) => {
                    format!("the checker rejects what {} says: {reason}", tried.engine)
                }
                report::End::Proved | report::End::Refuted | report::End::Stopped => {
                    format!("another engine contradicts {}", tried.engine)
                }
            };
            examined.wrong.push((who, how));
        }
        examined.compare(who, answer, start.elapsed());
    }
    Ok(examined)
}

/// How many schedules a compiled program is run with.
const SCHEDULES: u32 = 100;

/// What the compiled program shows. It proves nothing, so where a violation is known it is not asked.
fn compiled(case: &Case, seen: Observed, compiler: Option<&Compiler>) -> Answer {
    let shown = match seen {
        Observed::Violation => None,
        Observed::Nothing | Observed::Partial | Observed::Bounded => {
            compiler.and_then(|compiler| compiler.violations(case, SCHEDULES))
        }
    };
    match shown {
        Some((1.., _)) if !is_undefined(case) => Answer::Refuted,
        Some(_) | None => Answer::Unknown,
    }
}

/// Whether a program has a data race or overflows, though another check was asked for. Compilers may then
/// read variables more often than the program does, as gcc does for the value of `++x`, or leave the overflow
/// out: gcc makes `x != 1` of `x - 1 ? …`, and no sanitiser sees the difference.
fn is_undefined(case: &Case) -> bool {
    let has = |program: &ir::Program, check: Check| {
        let prepared = pipeline::prepare(program, check);
        explore(&prepared, &check.property(), case.bounds()) == Observed::Violation
    };
    let others = [Check::Races, Check::Overflow].into_iter().filter(|check| *check != case.check);
    case.read().is_ok_and(|program| others.into_iter().any(|check| has(&program, check)))
}

impl Examined {
    /// Takes note of an answer, and of what is wrong about it.
    fn compare(&mut self, who: Asked, answer: Answer, time: Duration) {
        let wrong = match (answer, self.seen) {
            (Answer::Proved, Observed::Violation) => Some("proves what is violated"),
            (Answer::Refuted, Observed::Nothing) => Some("refutes what holds"),
            (Answer::Proved | Answer::Refuted | Answer::Unknown, _) => None,
        };
        self.wrong.extend(wrong.map(|wrong| (who, wrong.to_owned())));
        let opposite = self.answers.iter().find(|(_, other, _)| {
            matches!((answer, other), (Answer::Proved, Answer::Refuted) | (Answer::Refuted, Answer::Proved))
        });
        if let (Some((other, _, _)), None) = (opposite, wrong) {
            self.wrong.push((who, format!("contradicts {}", other.name())));
        }
        self.answers.push((who, answer, time));
    }
}
