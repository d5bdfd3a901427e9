//! Reads C with threads and lowers it to the common representation.
//!
//! [`read`] takes the text of one or several files, checks them with the `rucc` front-end crates, links them,
//! and lowers what `main` (or what [`Options::start`] names) can reach. It prints nothing; the only files it
//! opens are the ones that the text includes.
//!
//! Lowering preserves the meaning of C, with the following deviations. Wherever one of them could change a
//! verdict, lowering emits an [`ir::Assumption`] or a value marked [`ir::Rhs::Unknown`].
//! 1. Floats wider than 64 bits, and all floats on machines of 32 bits: copies are exact, operations give
//!    unknown values.
//! 2. A construct that is not supported ends the execution, and there is no proof.
//! 3. A block-scope structure or array without an initialiser keeps its content when its declaration is
//!    reached again.
//! 4. Other threads see only some of the intermediate states of a copy (`division.rs`).

mod aggregates;
mod arithmetic;
mod assembly;
mod atomic_aggregates;
mod atomics;
mod avr;
mod bitfields;
pub mod builder;
mod builtins;
mod calls;
mod classes;
mod cleanups;
mod command_line;
mod division;
mod effects;
mod equal_literals;
mod evaluation_order;
mod expressions;
mod facts;
mod fold;
mod function;
mod handles;
mod indeterminate;
mod initialisers;
pub mod library;
mod lifetimes;
mod limits;
mod link;
mod literals;
mod lowering;
mod memory_orders;
mod nesc;
mod outside_calls;
mod own_objects;
mod parse;
mod places;
mod products;
mod registers;
mod replaced;
mod scopes;
mod site_uses;
mod start;
mod startup;
mod statements;
mod types;
mod unqualified_casts;
mod variadic;

pub use classes::{Effect, FunctionClass, UnknownFunction};
use ir::diagnostic::{Diagnostic, Kind};
use ir::passes::allocators::CallUses;
use ir::{DataModel, Draft, Program};
pub use memory_orders::MemoryModel;
pub use start::Start;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// How the source is to be read.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The widths of `long` and of pointers.
    pub data_model: DataModel,
    /// Folders to search for included files (`-I`).
    pub include_dirs: Vec<PathBuf>,
    /// Macros to define, as `NAME` or `NAME=value` (`-D`).
    pub defines: Vec<String>,
    /// Files to include before each source file (`-include`).
    pub includes: Vec<PathBuf>,
    /// The language standard, as compilers name it (`gnu17`); GNU C17 if there is none.
    pub standard: Option<String>,
    /// Whether the source was compiled from nesC for one processor: interrupt handlers are threads, and
    /// registers are inputs (`nesc.rs`).
    pub nesc: bool,
    /// Macros to undefine (`-U`).
    pub undefines: Vec<String>,
    /// Folders to search for files that are included by a quoted name (`-iquote`).
    pub quote_dirs: Vec<PathBuf>,
    /// Folders to search for system headers, before the system's own (`-isystem`).
    pub system_dirs: Vec<PathBuf>,
    /// Folders to search for system headers, after all others (`-idirafter`).
    pub after_dirs: Vec<PathBuf>,
    /// Files to read before each source file, for their macros only (`-imacros`).
    pub macros: Vec<PathBuf>,
    /// Whether `char` is signed; `None` for the machine's default.
    pub char_signed: Option<bool>,
    /// Whether functions that no file defines change only memory that they get a pointer to.
    pub outside_is_pure: bool,
    /// Whether allocating memory, starting threads and making locks may fail.
    pub failures: bool,
    /// What memory orders mean.
    pub memory_model: MemoryModel,
    /// What the program starts with; `main` by default.
    pub start: Start,
    /// The effects of functions that no file defines and that have no model.
    pub functions: Vec<(String, FunctionClass)>,
    /// Where the program goes as soon as all functions are lowered.
    pub draft: Draft,
}

impl Options {
    /// What the user asserts about functions that no file defines.
    fn outside(&self) -> lowering::Outside {
        lowering::Outside {
            is_pure: self.outside_is_pure,
            failures: self.failures,
            functions: self.functions.clone(),
        }
    }
}

/// A source file.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its name, as messages show it. One that ends in `.i` is taken to be preprocessed already.
    pub name: String,
    /// Its bytes.
    pub text: Vec<u8>,
}

/// The limit on reading, in processor time, so that a busy machine does not change the result. Real files
/// take a few hundredths of a second; input that is slow by design must not hold up the user.
const TIME_LIMIT: Duration = Duration::from_secs(4);
/// The time that each byte of a file adds to that, up to a size: larger programs may take longer.
const TIME_PER_BYTE: Duration = Duration::from_micros(40);
/// Bytes beyond this size add no more time.
const MOST_BYTES: usize = 512 << 10;
/// The limit on reading many files.
const MOST_TIME: Duration = Duration::from_secs(60);
/// How often to check the time that reading has taken so far.
const PAUSE: Duration = Duration::from_millis(50);
/// Stack sizes to try, largest first. The typed tree is walked by recursion; the system reserves such a stack
/// without using memory for it.
const STACK_SIZES: [usize; 3] = [4 << 30, 1 << 30, 256 << 20];

/// Reads source files in the same way and links them into one program.
pub fn read(sources: &[Source], options: &Options) -> Result<Program, Vec<Diagnostic>> {
    let each: Vec<(Source, Options)> =
        sources.iter().map(|source| (source.clone(), options.clone())).collect();
    read_each(&each, options)
}

/// Reads source files, each with its own options for preprocessing, and links them into one program. The data
/// model, the nesC flag and the entry points are those of `whole`.
pub fn read_each(sources: &[(Source, Options)], whole: &Options) -> Result<Program, Vec<Diagnostic>> {
    on_large_stack(sources, whole, read_here).map(|mut program| {
        ir::passes::addresses::note(&mut program);
        ir::passes::foreign::note(&mut program);
        program
    })
}

/// The unknown functions that a program calls: no file defines them, they have no model, and no option
/// describes them.
pub fn unknown_functions(
    sources: &[(Source, Options)],
    whole: &Options,
) -> Result<Vec<UnknownFunction>, Vec<Diagnostic>> {
    on_large_stack(sources, whole, |sources, whole| {
        let units = parse_all(sources)?;
        let links = link::link(&units, &whole.start)?;
        let atomics = memory_orders::Atomics::default();
        let lowering =
            lowering::lower(&units, &links, whole.data_model, None, atomics, whole.outside(), &whole.draft);
        Ok(lowering.unknown_functions)
    })
}

/// A function on files.
type Work<T> = fn(&[(Source, Options)], &Options) -> Result<T, Vec<Diagnostic>>;

/// Runs a function on files, in a thread with a large stack and within the time limit.
fn on_large_stack<T: Send + 'static>(
    sources: &[(Source, Options)],
    whole: &Options,
    work: Work<T>,
) -> Result<T, Vec<Diagnostic>> {
    let (sender, receiver) = mpsc::channel();
    let worker: Arc<OnceLock<Worker>> = Arc::default();
    let started = STACK_SIZES.iter().any(|size| {
        let (sender, sources, whole) = (sender.clone(), sources.to_vec(), whole.clone());
        let worker = worker.clone();
        let run = move || {
            let _ = worker.set(Worker::here());
            let result = catch_unwind(AssertUnwindSafe(|| work(&sources, &whole)));
            // The receiver is gone when the time is up: then nobody wants the result.
            let _ = sender.send(result);
        };
        thread::Builder::new().name("frontend-c".to_owned()).stack_size(*size).spawn(run).is_ok()
    });
    drop(sender);
    let name = sources.first().map_or("", |(source, _)| source.name.as_str());
    let files = u32::try_from(sources.len()).unwrap_or(u32::MAX);
    let bytes = sources.iter().map(|(source, _)| source.text.len()).sum::<usize>().min(MOST_BYTES);
    let more = TIME_PER_BYTE.saturating_mul(bytes as u32);
    let limit = TIME_LIMIT.saturating_mul(files).saturating_add(more).min(MOST_TIME);
    if !started {
        return Err(vec![Diagnostic::at(
            name,
            (1, 1),
            Kind::Limit,
            "no thread with a large stack can be started; raise the limit on memory",
        )]);
    }
    let begun = Instant::now();
    let received = loop {
        // On a busy machine the thread may take long to start, and the system no longer reports the time of a
        // thread that has ended.
        let (taken, most) = match worker.get() {
            Some(worker) => (worker.time().unwrap_or_else(|| begun.elapsed()), limit),
            None => (begun.elapsed(), MOST_TIME),
        };
        let pause = if taken < most { PAUSE } else { Duration::ZERO };
        match receiver.recv_timeout(pause) {
            Err(mpsc::RecvTimeoutError::Timeout) if taken < most => {}
            received => break received,
        }
    };
    match received {
        Ok(Ok(result)) => result,
        Ok(Err(_)) | Err(mpsc::RecvTimeoutError::Disconnected) => Err(vec![Diagnostic::at(
            name,
            (0, 0),
            Kind::Internal,
            "the C front end failed on this file; please report it",
        )]),
        Err(mpsc::RecvTimeoutError::Timeout) => Err(vec![Diagnostic::at(
            name,
            (1, 1),
            Kind::Limit,
            "reading takes too long: the file is too large or too deeply nested; split it",
        )]),
    }
}

/// A thread of this process, and the system's file that says how long it has run.
struct Worker(Option<PathBuf>);

impl Worker {
    /// This thread.
    fn here() -> Self {
        let thread = std::fs::read_link("/proc/thread-self").ok();
        Self(thread.map(|thread| Path::new("/proc").join(thread).join("schedstat")))
    }

    /// The processor time that it has taken; `None` when the system does not say.
    fn time(&self) -> Option<Duration> {
        let text = std::fs::read_to_string(self.0.as_ref()?).ok()?;
        Some(Duration::from_nanos(text.split(' ').next()?.parse().ok()?))
    }
}

/// Parses and checks each file: again, if the program itself defines functions that compilers know.
fn parse_all(sources: &[(Source, Options)]) -> Result<Vec<parse::Unit>, Vec<Diagnostic>> {
    let units = parse_each(sources, &[])?;
    let own = link::own_builtins(&units);
    if own.is_empty() { Ok(units) } else { parse_each(sources, &own) }
}

fn parse_each(sources: &[(Source, Options)], own: &[String]) -> Result<Vec<parse::Unit>, Vec<Diagnostic>> {
    let mut units = Vec::new();
    let mut problems = Vec::new();
    for (source, options) in sources {
        match parse::parse(source, options, own) {
            Ok(unit) => units.push(unit),
            Err(found) => problems.extend(found),
        }
    }
    if problems.is_empty() { Ok(units) } else { Err(problems) }
}

fn read_here(sources: &[(Source, Options)], whole: &Options) -> Result<Program, Vec<Diagnostic>> {
    let units = parse_all(sources)?;
    let mistakes = classes::mistakes(&units, &whole.functions);
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let links = link::link(&units, &whole.start)?;
    let (mut program, uses) = if whole.nesc {
        (nesc::lower(&units, &links, whole.data_model)?, CallUses::default())
    } else {
        memory_orders::lower(&units, &links, whole)
    };
    handles::split(&mut program);
    if !whole.nesc {
        products::note(&mut program);
        division::divide(&mut program);
    }
    library::simplify(&mut program);
    ir::passes::allocators::separate_allocators(&mut program, &uses);
    ir::passes::helpers::separate_helpers(&mut program);
    match ir::check::check(&program) {
        Ok(()) => Ok(program),
        Err(malformed) => {
            let name = sources.first().map_or("", |(source, _)| source.name.as_str());
            let message = |problem| format!("the C front end made a malformed program: {problem}");
            let diagnostic = |problem| Diagnostic::at(name, (0, 0), Kind::Internal, message(problem));
            Err(malformed.into_iter().take(10).map(diagnostic).collect())
        }
    }
}
