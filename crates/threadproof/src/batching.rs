//! The command `batch`: reads the plan, runs what is not finished, and writes the reports.

use crate::arguments::{Arguments, Batch, Command, Format, Place, Verify, normalise};
use crate::command::status;
use crate::config;
use crate::evidence::{unreadable, write_whole};
use crate::terminal::{self, Printer};
use crate::watchdog;
use batch::plan::{self, Given, Plan, Verifier};
use batch::runner::{self, Settings};
use batch::slurm::{self, News};
use batch::{Baseline, Entry, Finished, Results, Summary, Work};
use clap::Parser;
use ir::diagnostic::{Diagnostic, Kind};
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use toml::Spanned;
use toml::de::{DeString, DeValue};

/// The file with the results, in the folder of a batch.
const RESULTS: &str = "results.sqlite";
/// The reports about the whole batch, in its folder.
const JSON: &str = "batch.json";
const PAGE: &str = "batch.html";
/// The folder of the cache, in the folder of a batch.
const CACHE: &str = "cache";

/// The options of `verify`, as its definition has them.
struct Options;

impl Verifier for Options {
    fn option(
        &self,
        (path, text): (&Path, &str),
        key: &Spanned<DeString<'_>>,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Vec<OsString>, Vec<Diagnostic>> {
        config::option(path, text, key, value)
    }

    fn accepts(&self, words: &[OsString]) -> Result<bool, String> {
        let before = ["threadproof", "verify"].map(OsString::from);
        let words = normalise(before.into_iter().chain(words.iter().cloned()));
        let arguments = Arguments::try_parse_from(words).map_err(|error| config::complaint(&error))?;
        let Command::Verify(options) = arguments.command else {
            return Err("these are no options of `verify`".to_owned());
        };
        let Verify { html, proof, witness, reproducer, show, format, cache, baseline, .. } = &options;
        let files = [html, proof, witness, reproducer, cache, baseline];
        if files.iter().any(|file| file.is_some()) || show.is_some() || *format != Format::Human {
            return Err("a batch writes its own reports: leave out --html, --proof, --witness, --reproducer, --cache, --baseline, --show and --format".to_owned());
        }
        Ok(!options.reading.nesc && options.asking.race.is_empty() && options.asking.spec.is_none())
    }
}

/// What the command line says about all jobs.
fn given(options: &Batch) -> Given {
    let mut more: Vec<(String, Vec<OsString>)> = Vec::new();
    for word in &options.options {
        let text = word.to_string_lossy();
        match more.last_mut() {
            // The value of the option before it.
            Some((_, words)) if !text.starts_with('-') => words.push(word.clone()),
            _ => {
                let name = text.trim_start_matches('-').split('=').next().unwrap_or_default().to_owned();
                more.push((name, vec![word.clone()]));
            }
        }
    }
    Given {
        checks: options.check.iter().flat_map(|named| named.0).map(|check| check.name().to_owned()).collect(),
        properties: options.property.clone(),
        data_model: options.data_model.map(|model| model.name().to_owned()),
        seconds: options.timeout,
        megabytes: options.memory,
        options: more,
    }
}

/// Runs a batch.
pub fn run(options: &Batch, printer: &Printer) -> ExitCode {
    let code = match made(options) {
        Ok(code) => code,
        Err(problems) => {
            problems.iter().for_each(|problem| printer.say(&problem.to_string()));
            status::BAD_INPUT
        }
    };
    ExitCode::from(code)
}

/// A message about a file that is given with its path.
fn about(message: String) -> Vec<Diagnostic> {
    vec![Diagnostic { file: None, line: 0, column: 0, kind: Kind::File, message, help: None }]
}

/// The results of an earlier batch.
fn baseline(path: &Path) -> Result<Baseline, Diagnostic> {
    let text = std::fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
    Baseline::read(&text).map_err(|why| Diagnostic::of_file(path, Kind::Text, why))
}

/// Says a line on standard output. A reader that left is no reason to stop.
fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

fn made(options: &Batch) -> Result<u8, Vec<Diagnostic>> {
    let plan = plan::read(&options.plan, &given(options), &Options)?;
    let baseline = options.baseline.as_deref().map(baseline).transpose().map_err(|problem| vec![problem])?;
    let unwritable = |error: std::io::Error| {
        let why = crate::evidence::why_unwritable(&error);
        vec![Diagnostic::of_file(&options.output, Kind::File, why)]
    };
    std::fs::create_dir_all(&options.output).map_err(unwritable)?;
    let output = options.output.canonicalize().map_err(unwritable)?;
    let results = Results::open(&output.join(RESULTS)).map_err(about)?;
    runner::prepare(&output).map_err(about)?;
    match options.on {
        Place::Slurm if options.fresh => slurm::discard(&output).map_err(about)?,
        Place::Local if slurm::has_waves(&output) => {
            let folder = options.output.join("slurm");
            return Err(about(format!(
                "{}: checks of this batch are in the hands of Slurm; continue with --on slurm, or if they are gone, \
                 remove this folder",
                folder.display()
            )));
        }
        Place::Slurm | Place::Local => {}
    }
    if !slurm::has_waves(&output) {
        runner::sweep(&output);
    }
    let cache = match (options.no_cache, &options.cache) {
        (true, _) => None,
        (false, Some(cache)) => Some(cache.clone()),
        (false, None) => Some(output.join(CACHE)),
    };
    // Each process reads these options as well.
    let config = std::fs::read_to_string(config::NAME).unwrap_or_default();
    let context = format!("{}\n{config}", env!("CARGO_PKG_VERSION"));
    let ids: Vec<String> = plan.jobs.iter().map(|job| job.id(&context)).collect();
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for (id, job) in ids.iter().zip(&plan.jobs) {
        if options.fresh {
            results.forget(id).map_err(about)?;
        }
        let known = results.get(id).map_err(about)?;
        // What failed may work now.
        let finished = known.filter(|finished| !matches!(finished.verdict, batch::Verdict::Error(_)));
        entries.push(Entry { id, job, finished, baseline: baseline.as_ref() });
    }
    let known = entries.iter().filter(|entry| entry.finished.is_some()).count();
    if known > 0 {
        say(&format!("{known} of {} checks are finished already (--fresh runs them again)", entries.len()));
    }
    let open: Vec<usize> = (0..entries.len()).filter(|number| entries[*number].finished.is_none()).collect();
    let todo: Vec<Work> = open.iter().map(|number| entries[*number].job.work(&ids[*number])).collect();
    let interrupted = watchdog::interrupts().map_err(|error| about(error.to_string()))?;
    let program = std::env::current_exe().map_err(|error| about(error.to_string()))?;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let style = terminal::style();
    let (mut count, digits) = (known, entries.len().to_string().len());
    let mut take = |all: Vec<(usize, Finished)>| {
        let entry = |number: usize| &entries[open[number]];
        results.put_all(all.iter().map(|(number, done)| (entry(*number).id, entry(*number).job, done)))?;
        for (number, finished) in all {
            let entry = &mut entries[open[number]];
            entry.finished = Some(finished);
            count += 1;
            say(&format!("[{count:digits$}/{}] {}", ids.len(), entry.line(style)));
        }
        Ok(())
    };
    let ran = match options.on {
        Place::Local => {
            let here = || processors.div_ceil(portfolio::default_jobs());
            let settings = Settings {
                program: &program,
                folder: &output,
                workers: options.jobs.map_or_else(here, usize::from),
                cache: cache.as_deref(),
                has_pages: !options.no_pages,
                grace: runner::GRACE,
                tag: "",
                stop: &interrupted,
            };
            runner::run(&todo, &settings, |number, finished| take(vec![(number, finished)]))
        }
        Place::Slurm => {
            let settings = slurm::Settings {
                program: &program,
                version: env!("CARGO_PKG_VERSION"),
                folder: &output,
                elements: options.jobs.map(usize::from),
                chunk: options.chunk.map(|chunk| chunk as usize),
                processors: portfolio::default_jobs(),
                options: &options.sbatch,
                cache: cache.as_deref(),
                has_pages: !options.no_pages,
                grace: runner::GRACE,
                stop: &interrupted,
            };
            slurm::run(&todo, &settings, &mut |news| match news {
                News::Finished(all) => take(all),
                News::Note(text) => {
                    say(&text);
                    Ok(())
                }
            })
        }
    };
    ran.map_err(about)?;
    write(&output, &plan, &entries)?;
    let summary = Summary::of(&entries);
    let shown = |name: &str| options.output.join(name).display().to_string();
    say(&format!("\n{}", summary.text(&entries, style)));
    if interrupted.load(Ordering::Relaxed) {
        let open = summary.jobs - summary.finished;
        say(&format!("interrupted; {open} checks are open: run the same command again to continue"));
        return Ok(watchdog::INTERRUPTED as u8);
    }
    say(&format!("results: {}, {}, {}", shown(PAGE), shown(JSON), shown(batch::benchexec::FILE)));
    Ok(Summary::status(&entries))
}

/// Runs a part of a batch that was submitted to a cluster, on one of its nodes.
pub fn element(folder: &Path, element: usize, printer: &Printer) -> ExitCode {
    let ran = watchdog::interrupts().and_then(|stop| Ok((stop, std::env::current_exe()?)));
    let ran = ran
        .map_err(|error| error.to_string())
        .and_then(|(stop, program)| slurm::work(folder, element, env!("CARGO_PKG_VERSION"), &program, &stop));
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            printer.say(&problem);
            ExitCode::from(status::BAD_INPUT)
        }
    }
}

/// Writes the reports about the whole batch.
fn write(output: &Path, plan: &Plan, entries: &[Entry<'_>]) -> Result<(), Vec<Diagnostic>> {
    let is_there = |path: &Path| output.join(path).is_file();
    let plan = plan.path.to_string_lossy();
    let here = std::env::current_dir().unwrap_or_default();
    let files: [(&str, String); 3] = [
        (JSON, batch::json::render(&plan, entries, &is_there)),
        (PAGE, batch::html::render(&plan, entries, &is_there)),
        (batch::benchexec::FILE, batch::benchexec::render(&plan, entries, &here)),
    ];
    files.iter().try_for_each(|(name, text)| write_whole(&output.join(name), text)).map_err(about)
}
