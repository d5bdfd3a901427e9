//! Proofs to change, and broken programs that they must not be accepted for.

use crate::case::{Case, Kind};
use ir::specification::Specification;
use ir::{Assignment, Expr, Op, Program, Rhs};
use portfolio::pipeline;
use portfolio::runs::{Runs, WithReduction};
use std::path::{Path, PathBuf};
use testkit::annotation::annotations;
use testkit::oracle::{Bounds, Observed, explore};
use testkit::random::Random;
use verdict::{Budget, Check, Engine, Proof, Silent, Task, Verdict, Views};

/// A check that holds of a program, and programs like it that violate it.
pub struct Pair {
    /// Where it comes from.
    pub name: String,
    /// What is checked.
    pub check: Check,
    /// The program, lowered for the check.
    pub right: Views,
    /// The other programs, lowered for it.
    pub wrong: Vec<Views>,
}

/// C files below a folder that have a broken twin beside them, in order.
pub fn twins(folder: &Path) -> Vec<(PathBuf, PathBuf)> {
    let mut found = Vec::new();
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            found.extend(twins(&path));
        } else if path.extension().is_some_and(|extension| extension == "c") {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let broken = path.with_file_name(format!("{stem}-broken.c"));
            if broken.is_file() {
                found.push((path, broken));
            }
        }
    }
    found
}

/// All C files below a folder, in order.
pub fn all_files(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    let of = |path: PathBuf| match path.is_dir() {
        true => all_files(&path),
        false if path.extension().is_some_and(|extension| extension == "c") => vec![path],
        false => Vec::new(),
    };
    entries.into_iter().flat_map(of).collect()
}

/// The checks that do not hold of the program of a file, with the program lowered for each.
pub fn violated(path: &Path) -> Vec<(Check, Views)> {
    let Some((program, truths)) = read(path) else { return Vec::new() };
    let wrong = truths.into_iter().filter(|(_, holds)| !holds);
    wrong.map(|(check, _)| (check, pipeline::prepare(&program, check))).collect()
}

/// Programs, each with a specification of a folder that speaks of its functions and variables.
pub fn specifications(folder: &Path, programs: &Path) -> Vec<(PathBuf, PathBuf)> {
    let all = |folder: &Path, extension: &str| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut found: Vec<PathBuf> =
            entries.filter(|path| path.extension().is_some_and(|other| other == extension)).collect();
        found.sort();
        found
    };
    let mut found = Vec::new();
    for program in all(programs, "c") {
        let Some((read, _)) = read(&program) else { continue };
        for specification in all(folder, "tspec") {
            if read_specification(&specification, &read, &Budget::steps_for(10.0)).is_some() {
                found.push((program.clone(), specification));
            }
        }
    }
    found
}

/// A specification in a file; `None` if it is not about the program.
fn read_specification(path: &Path, program: &Program, budget: &Budget) -> Option<Specification> {
    let bytes = std::fs::read(path).ok()?;
    portfolio::specification::read(&path.to_string_lossy(), &bytes, program, budget).ok()
}

/// A program of a file, and what is known of its checks; `None` when it takes options that are not known
/// here.
fn read(path: &Path) -> Option<(Program, Vec<(Check, bool)>)> {
    let text = std::fs::read_to_string(path).ok()?;
    let notes = annotations(&text).ok()?;
    let words = &notes.arguments;
    let known = ["--engine", "--memory-model", "--timeout", "--jobs"];
    if words.iter().any(|word| word.starts_with("--") && !known.contains(&word.as_str())) {
        return None;
    }
    let weak = words.windows(2).any(|words| words == ["--memory-model", "sc"]);
    let memory_model =
        if weak { frontend_c::MemoryModel::SequentiallyConsistent } else { frontend_c::MemoryModel::C11 };
    let options = frontend_c::Options { memory_model, ..frontend_c::Options::default() };
    let name = path.file_name()?.to_string_lossy().into_owned();
    let source = frontend_c::Source { name, text: text.into_bytes() };
    let program = frontend_c::read(&[source], &options).ok()?;
    // What the tool does not know yet may be undefined, so that nothing is wrong with a proof.
    let known = notes.expectations.iter().filter(|(_, truth)| truth.required);
    Some((program, known.map(|(check, truth)| (*check, truth.holds)).collect()))
}

/// The checks that hold of a program and not of its twin. With some more broken programs, that are made by
/// changes of the right one.
pub fn pairs((right, broken): &(PathBuf, PathBuf), random: &mut Random) -> Vec<Pair> {
    let (Some((right_program, truths)), Some((broken_program, twin_truths))) = (read(right), read(broken))
    else {
        return Vec::new();
    };
    let name = right.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let differ = truths.into_iter().filter(|(check, holds)| *holds && twin_truths.contains(&(*check, false)));
    let pair = |(check, _): (Check, bool)| {
        let lowered = pipeline::prepare(&right_program, check);
        let mut wrong = vec![pipeline::prepare(&broken_program, check)];
        wrong.extend(made_wrong(&lowered, check, random));
        Pair { name: name.clone(), check, right: lowered, wrong }
    };
    differ.map(pair).collect()
}

/// How many changes of a program are tried, and how many of the broken ones are kept.
const TRIED: usize = 24;
const KEPT: usize = 3;
/// How many states of a changed program are looked at.
const STATES: usize = 4_000;

/// Programs with one small change of a right one, in which a violation was seen.
fn made_wrong(right: &Program, check: Check, random: &mut Random) -> Vec<Views> {
    let mut found: Vec<Program> = Vec::new();
    for _ in 0..TRIED {
        let Some(changed) = changed(right, random) else { continue };
        let well_formed = changed != *right && ir::check::check(&changed).is_ok();
        if well_formed
            && explore(&changed, &check.property(), Bounds::states(STATES)) == Observed::Violation
            && !found.contains(&changed)
        {
            found.push(changed);
            if found.len() == KEPT {
                break;
            }
        }
    }
    found.into_iter().map(Views::from).collect()
}

/// A program with an operation left out, a constant changed, or a location that is no longer atomic.
fn changed(right: &Program, random: &mut Random) -> Option<Program> {
    let mut changed = right.clone();
    let templates: Vec<_> = changed.templates.ids().collect();
    let code = &mut changed.templates[random.pick(&templates)];
    if random.once_in(4) {
        let locations: Vec<_> = code.locations.ids().filter(|at| code.locations[*at].atomic).collect();
        if locations.is_empty() {
            return None;
        }
        code.locations[random.pick(&locations)].atomic = false;
        return Some(changed);
    }
    let edges: Vec<_> = code.edges.ids().filter(|edge| !code.edges[*edge].ops.is_empty()).collect();
    if edges.is_empty() {
        return None;
    }
    let edge = random.pick(&edges);
    let ops = &mut code.edges[edge].ops;
    let at = random.below(ops.len());
    match &mut ops[at] {
        Op::Assign(Assignment { pairs, .. }) if random.once_in(2) => {
            for (_, value) in pairs {
                if let Rhs::Value(Expr::Const(value, ty)) = value {
                    *value = ty.wrap(*value + 1);
                }
            }
        }
        _ => {
            ops.remove(at);
        }
    }
    Some(changed)
}

/// The proofs of a program by all engines, or by the one of a name, that find one within their time: of the
/// program as it is, and with atomic runs.
pub fn proofs(pair: &Pair, only: Option<&str>, seconds: f64) -> Vec<Proof> {
    let property = pair.check.property();
    let task = Task { program: &pair.right, property: &property };
    let budget = || Budget::steps_for(seconds);
    let queries = engine_queries::Queries::default();
    let explicit = engine_explicit::Explicit::default();
    let engines: [&dyn Engine; 7] = [
        &engine_flow::Flow,
        &engine_summaries::Summaries,
        &engine_horn::Horn,
        &portfolio::STATES,
        &queries,
        &engine_context::ContextInference::OmegaCirc,
        &explicit,
    ];
    let errors = matches!(property, verdict::Property::NoError(_));
    let runs = errors.then(|| Runs::of(task, &engine_flow::Flow, &budget())).flatten();
    let mut found: Vec<Proof> = Vec::new();
    for engine in engines.into_iter().filter(|engine| only.is_none_or(|only| only == engine.name())) {
        let on_runs = runs.as_ref().map(|runs| WithReduction { engine, runs: Some(runs) });
        let others = on_runs.as_ref().map(|engine| engine.verify(task, &budget(), &Silent));
        for verdict in [engine.verify(task, &budget(), &Silent)].into_iter().chain(others) {
            if let Verdict::Safe(proof) = verdict
                && !found.contains(&proof)
            {
                found.push(proof);
            }
        }
    }
    found
}

/// A random program that is right, with broken ones that are made of it.
pub fn random_pair(seed: u64, random: &mut Random) -> Option<Pair> {
    let kinds = [Kind::Boolean, Kind::Tame, Kind::Wild];
    let case = Case::new(kinds[seed as usize % kinds.len()], seed);
    let right = pipeline::prepare(&case.read().ok()?, case.check);
    let wrong = made_wrong(&right, case.check, random);
    let name = format!("seed {seed}");
    (!wrong.is_empty()).then_some(Pair { name, check: case.check, right, wrong })
}

/// A program that conforms to a specification, with its proof by that.
pub fn by_specification(
    program: &Path,
    specification: &Path,
    seconds: f64,
    random: &mut Random,
) -> Option<(Pair, Vec<Proof>)> {
    let (program_read, _) = read(program)?;
    let check = Check::Assertions;
    let budget = Budget::steps_for(seconds * 10.0);
    let specification = read_specification(specification, &program_read, &budget)?;
    let right = pipeline::prepare(&program_read, check);
    let engine = engine_spec::Spec { specification: &specification, composer: &engine_flow::Flow };
    let property = check.property();
    let proof = match engine.verify(Task { program: &right, property: &property }, &budget, &Silent) {
        Verdict::Safe(proof) => proof,
        Verdict::Unsafe(_) | Verdict::Unknown(_) => return None,
    };
    let wrong = made_wrong(&right, check, random);
    let name = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    (!wrong.is_empty()).then_some((Pair { name, check, right, wrong }, vec![proof]))
}
