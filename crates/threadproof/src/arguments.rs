//! The command line's words.

use clap::{Args, Parser, Subcommand, ValueEnum};
use ir::Count;
use std::path::PathBuf;
use verdict::Check;

/// Proves or refutes concurrent programs, for any number of threads and schedules.
#[derive(Parser, Debug)]
#[command(name = "threadproof", version, max_term_width = 100)]
#[command(after_help = "Begin with `threadproof verify FILE.c`; `threadproof verify -h` lists the options.")]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commonest ways to use `verify`.
const VERIFY_EXAMPLES: &str = "Examples:
  threadproof verify program.c                            assertions and races
  threadproof verify --check races --html page.html a.c b.c
  threadproof verify --compile-commands build/compile_commands.json
  threadproof verify --thread handler:any driver.c        no `main`: any number of callers
  threadproof verify --timeout 600 --explain program.c    more time, and what was tried";

/// The commonest ways to use `batch`.
const BATCH_EXAMPLES: &str = "Examples:
  threadproof batch src                                   assertions and races of each C file
  threadproof batch tasks --property no-data-race --timeout 10
  threadproof batch plan.toml --output nightly --jobs 8
  threadproof batch src --check races -- --failures -I include
  threadproof batch plan.toml --on slurm --sbatch=--partition=long";

/// What to do.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Verify a program.
    ///
    /// Exit status: 0 proved, 1 refuted, 2 unknown, 3 bad input or usage, or a file that cannot be written, 4
    /// internal error.
    #[command(after_help = VERIFY_EXAMPLES)]
    Verify(Verify),
    /// Check the evidence that `verify --proof` wrote, without any search.
    ///
    /// Say what is asked as for `verify`: what the checks are, and how the program is read, is never taken
    /// from the evidence. Exit status: 0 the proofs of all checks are accepted, 1 a violation was replayed, 2
    /// a check has no evidence, or some that is not accepted, 3 bad input or usage, or a file that has not
    /// the form of evidence, 4 internal error.
    Check(CheckEvidence),
    /// Check that the threads of a C program do only what a specification says.
    ///
    /// The last line is `conformance: true`, `conformance: false(FUNCTION, …)` or `conformance:
    /// unknown(REASON)`. Exit status: 0 they do, 1 some does not, 2 unknown, 3 bad input or usage, 4 internal
    /// error.
    Conform(OfSpecification),
    /// Write a first specification for the threads of a C program, which they conform to; or a first
    /// `[functions]` section.
    Draft(Draft),
    /// Make many checks of many programs as one job, each in a process of its own.
    ///
    /// Run it again after an interruption: it continues where it was. Exit status: 0 all is proved, or as
    /// expected, 1 something is refuted, or not as expected, 2 something is unknown, 3 something cannot be
    /// read or written, 4 internal error, 130 interrupted.
    #[command(after_help = BATCH_EXAMPLES)]
    Batch(Batch),
    /// Run a part of a batch, on a node of a cluster.
    #[command(hide = true)]
    Element {
        /// What was submitted.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// Which part of it.
        #[arg(value_name = "N")]
        element: usize,
    },
    /// Serve an editor over standard input and output, by the Language Server Protocol.
    ///
    /// Options of verifications come from the `threadproof.toml` of the workspace.
    Lsp(Lsp),
    /// Print what completes commands in a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page.
    Man,
}

/// Options of `batch`.
#[derive(Args, Debug)]
pub struct Batch {
    /// A plan (`docs/batch.md`), a program, a task definition (`.yml`), or a folder: its task definitions, or
    /// if there are none, its programs.
    #[arg(value_name = "FILE|DIR")]
    pub plan: PathBuf,
    /// Where results, reports and the cache are kept.
    #[arg(long, value_name = "DIR", default_value = "threadproof-batch")]
    pub output: PathBuf,
    /// Where the checks run: here, or on a cluster, whose nodes see the same folders (`docs/cluster.md`).
    #[arg(long, value_enum, default_value_t = Place::Local, value_name = "PLACE")]
    pub on: Place,
    /// How many processes run at once [default: as many as keep the processors busy; on a cluster: as many as
    /// it runs].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// With `--on slurm`: how many checks each job of the cluster has [default: such that there are at most
    /// 1000 jobs].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub chunk: Option<u32>,
    /// With `--on slurm`: a further option of `sbatch`, as `--sbatch=--partition=long`. May be given several
    /// times.
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    pub sbatch: Vec<std::ffi::OsString>,
    /// Seconds for each check [default: 60].
    #[arg(long, value_name = "S")]
    pub timeout: Option<f64>,
    /// Megabytes of memory for each check [default: 4000].
    #[arg(long, value_name = "MB")]
    pub memory: Option<u64>,
    /// A property file, or the name of one in task definitions. May be given several times.
    #[arg(long, value_name = "FILE.prp")]
    pub property: Vec<PathBuf>,
    /// What to check: assertions, races, bounds, memory (deref, free and memtrack), memcleanup, overflow,
    /// deadlock [default: what the task definitions say;
    /// otherwise as `verify`].
    #[arg(long, value_delimiter = ',', value_parser = check, value_name = "CHECK,…")]
    pub check: Vec<Checked>,
    /// The widths of `long` and of pointers [default: what the task definitions say; otherwise LP64].
    #[arg(long, value_enum, ignore_case = true)]
    pub data_model: Option<Model>,
    /// Keep verdicts with their evidence in this folder, and use what is there [default: in the output].
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// Search for every verdict.
    #[arg(long, conflicts_with = "cache")]
    pub no_cache: bool,
    /// Compare with the results of an earlier batch: the exit status tells what is new. Verdicts stay what
    /// they are.
    #[arg(long, value_name = "batch.json")]
    pub baseline: Option<PathBuf>,
    /// Run finished checks again.
    #[arg(long)]
    pub fresh: bool,
    /// Write no page for each check: they take time and space.
    #[arg(long)]
    pub no_pages: bool,
    /// Further options of `verify`, for each check.
    #[arg(last = true, value_name = "OPTION")]
    pub options: Vec<std::ffi::OsString>,
}

/// Where the checks of a batch run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Place {
    /// On this machine.
    Local,
    /// On a cluster that Slurm manages.
    Slurm,
}

/// Options of `lsp`.
#[derive(Args, Debug)]
pub struct Lsp {
    /// Take options from this file [default: `threadproof.toml` in the folder of the workspace].
    #[arg(long, value_name = "FILE.toml")]
    pub config: Option<PathBuf>,
    /// Keep no verdicts; otherwise they are kept in the user's cache folder, or where the options say.
    #[arg(long)]
    pub no_cache: bool,
    /// Talk over standard input and output: what is always done. Editors say it.
    #[arg(long, hide = true)]
    pub stdio: bool,
}

/// Options of `draft`.
#[derive(Args, Debug)]
pub struct Draft {
    /// What to read, and how long it may take.
    #[command(flatten)]
    pub of: OfSpecification,
    /// Write the section `[functions]` of `threadproof.toml` instead: a line for each function that the
    /// program calls and of which nothing is known.
    #[arg(long = "functions")]
    pub lists_functions: bool,
}

/// Options of `conform` and `draft`.
#[derive(Args, Debug)]
pub struct OfSpecification {
    /// The C files of one program; for `conform`, one specification (`.tspec`) among them.
    #[command(flatten)]
    pub reading: Reading,
    /// Seconds after which the answer is `unknown`.
    #[arg(long, value_name = "S", default_value_t = 60.0)]
    pub timeout: f64,
    /// Megabytes of memory after which the answer is `unknown`.
    #[arg(long, value_name = "MB", default_value_t = 4000)]
    pub memory: u64,
}

/// What to read, and how.
#[derive(Args, Debug)]
#[command(next_help_heading = "What is read")]
pub struct Reading {
    /// The C files of one program (`.c`, or preprocessed `.i`), a Boolean program (`.bp`, `.bool`), or a
    /// thread transition system (`.tts`).
    ///
    /// With `--compile-commands`, those of its files that make up the program.
    #[arg(value_name = "FILE", help_heading = "Arguments")]
    pub files: Vec<PathBuf>,
    /// Read the C files of a build, with the flags that they are compiled with.
    #[arg(long, value_name = "compile_commands.json", conflicts_with = "nesc")]
    pub compile_commands: Option<PathBuf>,
    /// A C program without a `main`: call this function. Several are called in turn, before threads start.
    /// Arguments are inputs.
    #[arg(long, value_name = "FUNCTION", conflicts_with = "nesc")]
    pub entry: Vec<String>,
    /// A C program without a `main`: so many threads run this function [default: one; `any` is any number].
    /// May be given several times. Arguments are inputs.
    #[arg(long, value_parser = thread, value_name = "FUNCTION[:COUNT]", conflicts_with = "nesc")]
    pub thread: Vec<Started>,
    /// Take options from this file [default: `threadproof.toml` in this folder].
    #[arg(long, value_name = "FILE.toml")]
    pub config: Option<PathBuf>,
    /// The widths of `long` and of pointers.
    #[arg(long, value_enum, ignore_case = true, default_value_t = Model::Lp64)]
    pub data_model: Model,
    /// What atomic operations with weaker orders than `memory_order_seq_cst` mean [default: `c11`; with
    /// `--property`, `sc`].
    #[arg(long, value_enum, ignore_case = true)]
    pub memory_model: Option<Memory>,
    /// Allocating memory, starting threads and making locks may fail; otherwise they always succeed.
    #[arg(long)]
    pub failures: bool,
    /// What a function does that no file defines and that has no model: `pure`, `reads`, `writes(N)`,
    /// `allocates`, `calls(N)`, `ends`, or several with commas. May be given several times; in
    /// `threadproof.toml`, `[functions]` has a line for each.
    #[arg(long = "function", value_name = "NAME=CLASS", value_parser = function)]
    pub functions: Vec<ClassifiedFunction>,
    /// What is known of a C program before it is read to the end; no option.
    #[arg(skip)]
    pub draft: ir::Draft,
    /// The C file was compiled from nesC: interrupt handlers are threads of one processor, and registers are
    /// inputs. Lists each shared variable. The data model is ILP32.
    #[arg(long)]
    pub nesc: bool,
    /// Look for headers in this folder.
    #[arg(short = 'I', long = "include-dir", value_name = "DIR")]
    pub include_dirs: Vec<PathBuf>,
    /// Define a macro.
    #[arg(short = 'D', long = "define", value_name = "NAME[=VALUE]")]
    pub defines: Vec<String>,
    /// Read this header first.
    #[arg(long = "include", value_name = "FILE")]
    pub includes: Vec<PathBuf>,
    /// The C standard, such as `gnu17`.
    #[arg(long = "std", value_name = "STANDARD")]
    pub standard: Option<String>,
    /// In a Boolean program, reaching this label is an error [default: SLIC_ERROR and ERROR].
    #[arg(short = 'l', long = "label", value_name = "LABEL")]
    pub labels: Vec<String>,
    /// In a Boolean program, any number of threads runs `main`, or each of `thread0`, `thread1`, ….
    #[arg(long, alias = "parameterized")]
    pub any_copies: bool,
    /// The target of a transition system [default: the file beside it that ends in `.prop`].
    #[arg(long, value_name = "FILE.prop")]
    pub target: Option<PathBuf>,
    /// The initial states of a transition system, as `shared|local,…/local,…` [default: its `#init` line, or
    /// `0/0`].
    #[arg(long, value_name = "STATES")]
    pub init: Option<String>,
}

/// What is asked of a program.
#[derive(Args, Debug)]
#[command(next_help_heading = "What is asked")]
pub struct Asking {
    /// A property file in the format of the Competition on Software Verification.
    #[arg(long, value_name = "FILE.prp", conflicts_with_all = ["check", "nesc"])]
    pub property: Option<PathBuf>,
    /// What to check: assertions, races, bounds, memory (deref, free and memtrack), memcleanup, overflow,
    /// deadlock [default: assertions,races; of Boolean
    /// programs and transition systems: assertions].
    #[arg(long, value_delimiter = ',', value_parser = check, value_name = "CHECK,…", conflicts_with = "nesc")]
    pub check: Vec<Checked>,
    /// Check races, and on this variable only: a global `x`, an array, or a member `s.f`. May be given
    /// several times.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["check", "property"])]
    pub race: Vec<String>,
    /// A specification of the threads: the program is proved by it, or not at all. Only assertions are
    /// checked where nothing else is said.
    #[arg(long, value_name = "FILE.tspec")]
    pub spec: Option<PathBuf>,
}

/// Options of `check`.
#[derive(Args, Debug)]
pub struct CheckEvidence {
    /// The evidence: what `verify --proof` wrote.
    #[arg(value_name = "EVIDENCE.json")]
    pub evidence: PathBuf,
    /// What it is about.
    #[command(flatten)]
    pub reading: Reading,
    /// The checks that there must be evidence for.
    #[command(flatten)]
    pub asking: Asking,
    /// Seconds after which the answer is `unknown`.
    #[arg(long, value_name = "S", default_value_t = 60.0)]
    pub timeout: f64,
    /// Megabytes of memory after which the answer is `unknown`.
    #[arg(long, value_name = "MB", default_value_t = 4000)]
    pub memory: u64,
    /// How to answer.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// Options of `verify`.
#[derive(Args, Debug)]
pub struct Verify {
    /// What to verify.
    #[command(flatten)]
    pub reading: Reading,
    /// What is asked.
    #[command(flatten)]
    pub asking: Asking,
    /// The engine to use.
    #[arg(long, value_enum, default_value_t = EngineName::Auto, help_heading = "How it is searched")]
    pub engine: EngineName,
    /// The function that the main thread of the engine `queries` runs. Otherwise each thread with an
    /// assertion is it in turn.
    #[arg(long, value_name = "FUNCTION", help_heading = "How it is searched")]
    pub main_thread: Option<String>,
    /// Seconds after which the answer is `unknown`.
    #[arg(long, value_name = "S", default_value_t = 60.0, help_heading = "How it is searched")]
    pub timeout: f64,
    /// Megabytes of memory after which the answer is `unknown`.
    #[arg(long, value_name = "MB", default_value_t = 4000, help_heading = "How it is searched")]
    pub memory: u64,
    /// How many engines run at once, without `--engine` [default: one for each processor, at most 4].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64), help_heading = "How it is searched")]
    pub jobs: Option<u16>,
    /// Say what each engine tried, how long it took, and what came of it; and of a proof, what carries it.
    #[arg(long, help_heading = "What is reported")]
    pub explain: bool,
    /// Look for a shortest execution to a violation.
    #[arg(long, help_heading = "How it is searched")]
    pub shortest: bool,
    /// How to answer.
    #[arg(long, value_enum, default_value_t = Format::Human, help_heading = "What is reported")]
    pub format: Format,
    /// Also write a page to this file that needs nothing else: the source with what is known, the execution
    /// to step through, graphs, and when each engine ran.
    #[arg(long, value_name = "FILE.html", help_heading = "What is reported")]
    pub html: Option<PathBuf>,
    /// Compare with an earlier report (`--format json` or `sarif`): violations and open checks that it has
    /// are not reported again, and the exit status is 0 where nothing is new. Verdicts stay what they are.
    #[arg(long, value_name = "FILE", help_heading = "What is reported")]
    pub baseline: Option<PathBuf>,
    /// Write a program that makes the violation happen into this folder.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["nesc", "race"], help_heading = "What is reported")]
    pub reproducer: Option<PathBuf>,
    /// Write the proof or the violating execution to this file, for `threadproof check`.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["nesc", "race"], help_heading = "What is reported")]
    pub proof: Option<PathBuf>,
    /// Write a witness of the verdict, in the format of the Competition on Software Verification, to this
    /// file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["nesc", "race"], help_heading = "What is reported")]
    pub witness: Option<PathBuf>,
    /// Keep verdicts with their evidence in this folder, and use what is there once its evidence is checked
    /// again. Many runs may share it.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["nesc", "race", "spec"], help_heading = "How it is searched")]
    pub cache: Option<PathBuf>,
    /// The process that ends this one by ending; `batch` says it.
    #[arg(long, hide = true, value_name = "ID")]
    pub supervisor: Option<i32>,
    /// Print the program instead of verifying it.
    #[arg(long, value_enum, value_name = "WHAT", help_heading = "What is reported")]
    pub show: Option<Show>,
}

/// A function, and what it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassifiedFunction {
    /// Its name.
    pub name: String,
    /// What it does.
    pub class: frontend_c::FunctionClass,
}

fn function(text: &str) -> Result<ClassifiedFunction, String> {
    let (name, class) =
        text.split_once('=').ok_or("expected a name, `=` and a class, such as `log_msg=pure`")?;
    let is_name = |name: &str| {
        let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
        !name.is_empty() && name.chars().all(is_letter)
    };
    if !is_name(name) {
        return Err(format!("`{name}` is no name of a function"));
    }
    Ok(ClassifiedFunction { name: name.to_owned(), class: class.parse()? })
}

/// Threads that run from the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// What they run.
    pub function: String,
    /// How many.
    pub count: Count,
}

/// The most threads that can be named by number.
const MOST_THREADS: u32 = 64;

fn thread(text: &str) -> Result<Started, String> {
    let (function, count) = match text.split_once(':') {
        None => (text, Count::Exactly(1)),
        Some((function, "any")) => (function, Count::Any),
        Some((function, number)) => {
            let number = number.parse().ok().filter(|number| (1..=MOST_THREADS).contains(number));
            let number = number
                .ok_or(format!("expected `any` or a number from 1 to {MOST_THREADS} after the colon"))?;
            (function, Count::Exactly(number))
        }
    };
    if function.is_empty() {
        return Err("there is no function before the colon".to_owned());
    }
    Ok(Started { function: function.to_owned(), count })
}

/// The checks that one name on the command line stands for.
#[derive(Clone, Copy, Debug)]
pub struct Checked(pub &'static [Check]);

impl std::fmt::Display for Checked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.0.iter().map(|check| check.name()).collect();
        f.write_str(&names.join(","))
    }
}

fn check(name: &str) -> Result<Checked, String> {
    if name == "memory" {
        return Ok(Checked(&Check::MEMORY));
    }
    let one = Check::ALL.iter().position(|check| check.name() == name);
    one.map(|one| Checked(&Check::ALL[one..=one])).ok_or_else(|| {
        "the checks are assertions, races, bounds, memory (deref, free and memtrack), memcleanup, overflow, deadlock"
            .to_owned()
    })
}

/// The widths of `long` and of pointers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Model {
    /// 32-bit `int`, `long` and pointers.
    #[value(name = "ILP32")]
    Ilp32,
    /// 64-bit `long` and pointers.
    #[value(name = "LP64")]
    Lp64,
}

impl Model {
    /// Its name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ilp32 => "ILP32",
            Self::Lp64 => "LP64",
        }
    }
    /// The model of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Ilp32, Self::Lp64].into_iter().find(|model| model.name() == name)
    }
}

impl From<ir::DataModel> for Model {
    fn from(model: ir::DataModel) -> Self {
        match model {
            ir::DataModel::Ilp32 => Self::Ilp32,
            ir::DataModel::Lp64 => Self::Lp64,
        }
    }
}

impl From<Model> for ir::DataModel {
    fn from(model: Model) -> Self {
        match model {
            Model::Ilp32 => Self::Ilp32,
            Model::Lp64 => Self::Lp64,
        }
    }
}

/// What memory orders mean.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Memory {
    /// What C11 says; the verdict is `unknown` where that is not decided.
    #[value(name = "c11")]
    C11,
    /// All atomic operations are sequentially consistent.
    #[value(name = "sc")]
    Sc,
}

impl From<Memory> for frontend_c::MemoryModel {
    fn from(memory: Memory) -> Self {
        match memory {
            Memory::C11 => Self::C11,
            Memory::Sc => Self::SequentiallyConsistent,
        }
    }
}

/// The engines.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum EngineName {
    /// Several side by side; the first answer counts.
    Auto,
    /// Explicit-state exploration.
    Explicit,
    /// Proofs by locks and thread order, for any number of threads.
    Flow,
    /// Boolean programs, and others by predicates: proofs and refutations for any number of threads.
    States,
    /// Boolean programs, by counting threads up to a number that grows.
    Counters,
    /// Proofs by Horn clauses, for a fixed set of threads or any number.
    Horn,
    /// A fixed set of threads, one after the other: what one needs of the others is asked of them.
    Queries,
    /// Any number of threads, one in the context of the others, which is inferred; also finds violations.
    Context,
    /// Executions with inputs as formulas; finds violations only.
    Symbolic,
    /// Checks of memory, by what each thread owns, for any number of threads.
    Owned,
    /// Data races in whole programs with their calls: proves single memory locations, also of large programs.
    Summaries,
}

/// How to answer.
#[derive(Clone, Copy, Debug, ValueEnum, PartialEq, Eq)]
pub enum Format {
    /// For people; the last line is the verdict.
    Human,
    /// One JSON object.
    Json,
    /// A SARIF log.
    Sarif,
    /// A page of Markdown, for comments on changes.
    Markdown,
}

/// What to print of a program.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Show {
    /// The program representation as text.
    Ir,
    /// The source, with what is known at each line, who may interfere there, and what could not be proved.
    Invariants,
    /// The inlined program, with what the flow engine knows at each location.
    Flow,
    /// The control-flow automata as a DOT graph.
    Cfa,
    /// The control-flow automata as an SVG picture.
    CfaSvg,
    /// What the engine `context` infers that threads do to shared variables, as a DOT graph [default check:
    /// races].
    Context,
    /// The same as an SVG picture.
    ContextSvg,
    /// The same as a specification, with an abstract thread for each function.
    ContextSpec,
}

/// Puts compiler-style words (`-include F`, `-std=S`) into the form that the parser knows.
pub fn normalise(words: impl IntoIterator<Item = std::ffi::OsString>) -> Vec<std::ffi::OsString> {
    words
        .into_iter()
        .map(|word| match word.to_str() {
            Some("-include") => "--include".into(),
            Some(text) if text.starts_with("-std=") => format!("-{text}").into(),
            _ => word,
        })
        .collect()
}
