//! From outcomes to output: the report in the requested format, and the page.

use crate::arguments::{Format, Verify};
use crate::cache;
use crate::checking::Question;
use crate::evidence::write_whole;
use crate::terminal::{self, Printer};
use checker::Checked;
use ir::Program;
use report::baseline::Baseline;
use report::html::Extras;
use report::story::{self, Story};
use report::{Answer, Outcome, Report, SharedMemory, Sources};
use std::io::IsTerminal;
use std::time::Duration;
use verdict::{Analysed, Budget, Check, ContextProof, Listing, Proof, Views};

/// The least time for additions to the report, if twice that remains: they must not delay the verdict.
const LEAST: Duration = Duration::from_secs(1);

/// A document in a format.
pub fn document(format: Format, report: &Report<'_>) -> String {
    match format {
        Format::Human => report::human::render(report, terminal::style()),
        Format::Json => report::json::render(report),
        Format::Sarif => report::sarif::render(report),
        Format::Markdown => report::markdown::render(report),
    }
}

/// The report about some outcomes, without stories.
pub fn plain<'a>(
    (program, sources): (&'a Program, &'a Sources),
    outcomes: &'a [Outcome],
    answer: &'a Answer,
    memory: Option<&'a SharedMemory>,
) -> Report<'a> {
    Report { program, sources, outcomes, answer, explain: false, stories: &[], memory, baseline: None }
}

/// Prints the report of a verification, and writes the page; returns why it cannot be written.
pub fn present(
    options: &Verify,
    question: &Question,
    (outcomes, memory): (&[Outcome], Option<&SharedMemory>),
    answer: &Answer,
    baseline: Option<&Baseline>,
    budget: &Budget,
    printer: &Printer,
) -> Result<(), String> {
    let (program, sources) = (&question.input.0, &question.input.1);
    let first = outcomes.first().map_or(Check::Assertions, |outcome| outcome.check);
    // What is known already takes no more time than it takes to check it.
    let is_cached = |outcome: &Outcome| outcome.tries.iter().any(|tried| tried.engine == cache::NAME);
    let has_news = !outcomes.iter().all(is_cached);
    let wants_stories = options.html.is_some()
        || options.explain
        || match options.format {
            Format::Human => std::io::stdout().is_terminal(),
            Format::Markdown => true,
            Format::Json | Format::Sarif => false,
        };
    let by_flow =
        |outcome: &Outcome| matches!(&outcome.verdict, Checked::Proved(Proof::Flow(_) | Proof::Runs(_)));
    // The story takes no longer than the proof.
    let seconds: f64 = outcomes.iter().map(|outcome| outcome.seconds).sum();
    let left = budget.remaining().unwrap_or(Duration::MAX);
    let has_time = left > 2 * LEAST && budget.check(0).is_ok();
    let wants_stories = wants_stories && has_time && (has_news || options.explain);
    let budget = budget.part(2).patient_for(LEAST.max(Duration::from_secs_f64(seconds.clamp(0.0, 1e6))));
    let needed = (options.html.is_some() && has_news) || (wants_stories && outcomes.iter().any(by_flow));
    let listing: Option<Listing> = (needed && has_time)
        .then(|| engine_flow::listing(question.prepared.of(first), &budget).ok())
        .flatten();
    let mut stories: Vec<(Check, Story)> = Vec::new();
    let mut contexts: Vec<(String, String)> = Vec::new();
    for outcome in outcomes.iter().filter(|outcome| wants_stories && outcome.variable.is_none()) {
        if let Checked::Proved(proof) = &outcome.verdict {
            let lowered = question.prepared.of(outcome.check);
            let mut story = story::of(lowered, outcome.check, proof, listing.as_ref(), &budget);
            for (seen, proof) in by_contexts(lowered, outcome.check, proof, &budget) {
                story.parts.extend(story::of_context(seen, proof).parts);
                contexts.push((outcome.check.name().to_owned(), report::graph::contexts_svg(seen, proof)));
            }
            stories.push((outcome.check, story));
        }
    }
    let explain = options.explain;
    let report = Report { program, sources, outcomes, answer, explain, stories: &stories, memory, baseline };
    printer.print(&document(options.format, &report));
    if let Some(path) = &options.html {
        let lowered = question.prepared.of(first);
        let extras = Extras { lowered, listing: listing.as_ref(), contexts: &contexts };
        write_whole(path, &report::html::render(&report, &extras))?;
    }
    Ok(())
}

/// The parts of a proof that are by contexts, with their programs.
fn by_contexts<'a>(
    lowered: &'a Views,
    check: Check,
    proof: &'a Proof,
    budget: &Budget,
) -> Vec<(&'a Analysed, &'a ContextProof)> {
    match proof {
        Proof::Context(proof) => {
            let seen = engine_context::analysed_program(lowered, &check.property(), budget);
            seen.map(|seen| (seen, &**proof)).into_iter().collect()
        }
        Proof::Runs(proof) => {
            let mut parts = by_contexts(lowered, Check::Races, &proof.races, budget);
            if let Ok(runs) = lowered.lipton_reduce(budget) {
                parts.extend(by_contexts(runs, check, &proof.errors, budget));
            }
            parts
        }
        _ => Vec::new(),
    }
}
