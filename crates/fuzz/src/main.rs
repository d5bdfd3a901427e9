//! The endless mode: `cargo xtask fuzz [--seed N] [--jobs J]` tries one seed after the other until engines
//! and exploration disagree.
//!
//! Every few seconds it prints how many programs were tried, and what engines said of them. The first
//! disagreement is shrunk, printed, and written to a file.

use clap::Parser;
use fuzz::mutation::campaign::Campaign;
use fuzz::mutation::{Try, corpus, universal};
use fuzz::{Answer, Asked, Case, Compiler, Examined, Kind, examine};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use testkit::oracle::Observed;

/// Random programs, until engines and naive exploration disagree.
#[derive(Parser)]
struct Arguments {
    /// The first seed.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many programs are tried at once.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// How many programs to try; without it, there is no end.
    #[arg(long)]
    count: Option<u64>,
    /// The milliseconds that each engine has, counted in steps.
    #[arg(long, default_value_t = 30)]
    budget: u64,
    /// Programs of one kind only: wide, wild, tame or boolean.
    #[arg(long)]
    kind: Option<String>,
    /// Asks this engine alone.
    #[arg(long)]
    engine: Option<String>,
    /// Asks every engine about every program.
    #[arg(long)]
    all: bool,
    /// Compiles no programs.
    #[arg(long)]
    no_gcc: bool,
    /// Continues after a disagreement.
    #[arg(long)]
    keep_going: bool,
    /// Prints the program with the first seed, and nothing else.
    #[arg(long)]
    print: bool,
    /// Changes proofs at random, and checks them against broken programs: no program is made, and no engine
    /// compared.
    #[arg(long)]
    proofs: bool,
    /// Prints how many of `--count` wide programs (2,000 without it) have each construct, and nothing else.
    #[arg(long)]
    census: bool,
    /// Tries proofs of each kind that claim everything, for no reason, on the broken test programs.
    #[arg(long)]
    universal: bool,
    /// With `--proofs`: how many changes of a proof are tried before the next one comes.
    #[arg(long, default_value_t = 200)]
    each: u64,
    /// With `--proofs` or `--universal`: programs whose path has this in it only, and no random ones.
    #[arg(long)]
    only: Option<String>,
    /// Where disagreements are written to.
    #[arg(long, default_value = "target/fuzz")]
    out: PathBuf,
}

/// Deeply nested programs need a deep stack.
const STACK: usize = 256 << 20;
/// How often figures are printed.
const INTERVAL: Duration = Duration::from_secs(10);
/// An engine that takes this long in spite of its budget is mentioned.
const SLOW: Duration = Duration::from_secs(20);

/// What happened so far.
#[derive(Default)]
struct Figures {
    programs: u64,
    violated: u64,
    fine: u64,
    partial: u64,
    large: u64,
    wrong: u64,
    /// Proved, refuted, unknown, by who was asked.
    answers: [[u64; 3]; Asked::ALL.len()],
    /// How long they took.
    times: [Duration; Asked::ALL.len()],
    /// How long it took to read programs, and to explore them.
    reading: Duration,
    exploring: Duration,
}

impl Figures {
    fn add(&mut self, examined: &Examined) {
        self.programs += 1;
        self.reading += examined.reading;
        self.exploring += examined.exploring;
        match examined.seen {
            Observed::Violation => self.violated += 1,
            Observed::Nothing => self.fine += 1,
            Observed::Partial => self.partial += 1,
            Observed::Bounded => self.large += 1,
        }
        for (asked, answer, time) in &examined.answers {
            let row = Asked::ALL.iter().position(|other| other == asked).unwrap_or_default();
            let column = match answer {
                Answer::Proved => 0,
                Answer::Refuted => 1,
                Answer::Unknown => 2,
            };
            self.answers[row][column] += 1;
            self.times[row] += *time;
        }
    }

    fn print(&self, since: Instant) {
        let seconds = since.elapsed().as_secs_f64();
        let rate = self.programs as f64 / seconds.max(0.001);
        println!(
            "{:.0} s: {} programs ({rate:.1} each second), {} violated, {} fine, {} fine in part, {} too large to say, {} wrong",
            seconds, self.programs, self.violated, self.fine, self.partial, self.large, self.wrong
        );
        let row = |((asked, counts), time): ((&Asked, &[u64; 3]), &Duration)| {
            let [proved, refuted, unknown] = counts;
            format!("{} {proved}/{refuted}/{unknown} {:.1} s", asked.name(), time.as_secs_f64())
        };
        let rows: Vec<String> = Asked::ALL.iter().zip(&self.answers).zip(&self.times).map(row).collect();
        println!("  proved/refuted/unknown: {}", rows.join(", "));
        let verdicts: u64 = self.answers.iter().flat_map(|[proved, refuted, _]| [proved, refuted]).sum();
        let mut line = format!(
            "  {verdicts} verdicts compared; reading {:.1} s, exploring {:.1} s",
            self.reading.as_secs_f64(),
            self.exploring.as_secs_f64()
        );
        if let Some(busy) = processor_time() {
            let of = |count: u64| count as f64 / busy.as_secs_f64().max(0.001);
            line += &format!(
                "; {:.1} programs and {:.1} verdicts for each second of a processor",
                of(self.programs),
                of(verdicts)
            );
        }
        println!("{line}");
    }
}

/// The time of processors that this process took, and those that it waited for, where the system says that.
fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The second field, a name in parentheses, may hold blanks. The system counts hundredths of a second.
    let fields = text.rsplit(')').next()?.split_whitespace();
    let ticks: u64 = fields.skip(11).take(4).filter_map(|field| field.parse::<u64>().ok()).sum();
    Some(Duration::from_millis(10 * ticks))
}

fn kind_of(arguments: &Arguments, seed: u64) -> Kind {
    match arguments.kind.as_deref() {
        Some("wild") => Kind::Wild,
        Some("wide") => Kind::Wide,
        Some("tame") => Kind::Tame,
        Some("boolean") => Kind::Boolean,
        _ => match seed % 8 {
            0..=3 => Kind::Wide,
            4 => Kind::Wild,
            5 => Kind::Tame,
            _ => Kind::Boolean,
        },
    }
}

fn asked_of(arguments: &Arguments, case: &Case, seed: u64, seen: Observed) -> Vec<Asked> {
    match &arguments.engine {
        Some(name) => Asked::ALL.into_iter().filter(|asked| asked.name() == name).collect(),
        None if arguments.all => Asked::all(case.kind),
        None => Asked::in_turn(case, seed, seen),
    }
}

/// The seconds that each engine has: a third about most wide programs, which costs the slow engines some
/// answers.
fn seconds_for(arguments: &Arguments, kind: Kind, seed: u64) -> f64 {
    let part = if kind == Kind::Wide && seed % 16 >= 2 { 3.0 } else { 1.0 };
    arguments.budget as f64 / 1000.0 / part
}

/// Shrinks a case that someone is wrong about, and writes it to a file.
fn report(arguments: &Arguments, compiler: Option<&Compiler>, seed: u64, case: &Case, examined: &Examined) {
    let Some((who, how)) = examined.wrong.first() else { return };
    println!("seed {seed}, {}: {} {how}", case.check.name(), who.name());
    let seconds = (arguments.budget as f64 / 1000.0).max(1.0);
    // Who is contradicted is asked, too.
    let others =
        examined.answers.iter().map(|(other, _, _)| *other).filter(|other| how.contains(other.name()));
    let asked: Vec<Asked> = others.chain([*who]).collect();
    let smaller = case.shrunk(|smaller| {
        examine(smaller, |_| asked.clone(), seconds, compiler)
            .is_ok_and(|examined| examined.wrong.iter().any(|(other, what)| other == who && what == how))
    });
    let comment = format!("// Seed {seed}, {}: {} {how}.\n", case.check.name(), who.name());
    let text = format!("{comment}{}", smaller.text);
    println!("{text}");
    let path = arguments.out.join(format!("seed-{seed}-{}.{}", who.name(), case.extension()));
    let written = std::fs::create_dir_all(&arguments.out).and_then(|()| std::fs::write(&path, text));
    match written {
        Ok(()) => println!("written to {}", path.display()),
        Err(error) => println!("{}: {error}", path.display()),
    }
}

fn work(arguments: &Arguments, next: &AtomicU64, stop: &AtomicBool, figures: &Mutex<Figures>) {
    let compiler = (!arguments.no_gcc).then(Compiler::new).flatten();
    while !stop.load(Ordering::Relaxed) {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if arguments.count.is_some_and(|count| seed >= arguments.seed.saturating_add(count)) {
            return;
        }
        let kind = kind_of(arguments, seed);
        let case = Case::new(kind, seed);
        let asked = |seen| asked_of(arguments, &case, seed, seen);
        let examined = examine(&case, asked, seconds_for(arguments, kind, seed), compiler.as_ref());
        let mut held = figures.lock().unwrap_or_else(PoisonError::into_inner);
        match examined {
            Ok(examined) => {
                held.add(&examined);
                for (asked, _, time) in examined.answers.iter().filter(|(_, _, time)| *time > SLOW) {
                    println!("seed {seed}: {} takes {:.1} s", asked.name(), time.as_secs_f64());
                }
                if !examined.wrong.is_empty() {
                    held.wrong += 1;
                    if !arguments.keep_going && stop.swap(true, Ordering::Relaxed) {
                        return;
                    }
                    drop(held);
                    report(arguments, compiler.as_ref(), seed, &case, &examined);
                }
            }
            Err(error) => {
                println!("seed {seed}: {error}\n{}", case.text);
                held.wrong += 1;
                stop.store(!arguments.keep_going, Ordering::Relaxed);
            }
        }
    }
}

/// Where what must not be was written to, and how many such files there are.
static FOUND: AtomicU64 = AtomicU64::new(0);

/// Writes evidence that was accepted, or crashed the checker, to a file, with the program.
fn report_proof(name: &str, one: &Try, program: &ir::Program) {
    let number = FOUND.fetch_add(1, Ordering::Relaxed);
    let folder = PathBuf::from("target/fuzz");
    let path = folder.join(format!("proof-{number}-{}.json", name.replace(' ', "-")));
    println!("{name}: {:?}: {}", one.fate, path.display());
    let written = std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(&path, &one.text))
        .and_then(|()| std::fs::write(path.with_extension("ir"), ir::text::print(program)));
    if let Err(error) = written {
        println!("{}: {error}", path.display());
    }
}

/// Prints figures about changed proofs now and then.
fn print_progress(figures: &BTreeMap<String, fuzz::mutation::Figures>) {
    static PRINTED: Mutex<Option<Instant>> = Mutex::new(None);
    let mut printed = PRINTED.lock().unwrap_or_else(PoisonError::into_inner);
    if printed.is_none_or(|printed| printed.elapsed() >= INTERVAL) {
        let mut all = fuzz::mutation::Figures::default();
        figures.values().for_each(|found| all.join(*found));
        println!("{all:?}");
        *printed = Some(Instant::now());
    }
}

/// Changes proofs.
fn change_proofs(arguments: &Arguments) -> ExitCode {
    let wanted =
        |path: &PathBuf| arguments.only.as_ref().is_none_or(|only| path.to_string_lossy().contains(only));
    let root = PathBuf::from("tests/programs");
    let mut twins = corpus::twins(&root);
    twins.retain(|(right, _)| wanted(right));
    let mut specifications =
        corpus::specifications(&PathBuf::from("tests/specifications"), &root.join("papers"));
    specifications.retain(|(right, _)| wanted(right));
    let campaign = Campaign {
        twins,
        engines: Vec::new(),
        specifications,
        random: if arguments.only.is_none() { 400 } else { 0 },
        seed: arguments.seed,
        count: arguments.count.unwrap_or(u64::MAX),
        each: arguments.each,
        proving: arguments.budget as f64 / 1000.0,
        checking: 1.0,
        jobs: arguments.jobs,
        report: report_proof,
        progress: print_progress,
    };
    // What panics is counted.
    std::panic::set_hook(Box::new(|_| {}));
    let start = Instant::now();
    let figures = campaign.run();
    print_figures(figures, start)
}

/// The seconds that the check of a proof for everything may take, counted in steps.
const CHECKING: f64 = 0.1;

/// Tries proofs for everything.
fn try_universal(arguments: &Arguments) -> ExitCode {
    let mut files = corpus::all_files(&PathBuf::from("tests/programs"));
    files.retain(|path| arguments.only.as_ref().is_none_or(|only| path.to_string_lossy().contains(only)));
    // What panics is counted.
    std::panic::set_hook(Box::new(|_| {}));
    let start = Instant::now();
    let next = AtomicU64::new(0);
    let figures: Mutex<BTreeMap<String, fuzz::mutation::Figures>> = Mutex::default();
    let work = || {
        while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed) as usize) {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let report = |one: &Try, check: verdict::Check, program: &ir::Program| {
                report_proof(&format!("{name} {}", check.name()), one, program);
            };
            for (kind, fate) in universal::try_file(path, CHECKING, report) {
                let mut held = figures.lock().unwrap_or_else(PoisonError::into_inner);
                held.entry(kind).or_default().add(&fate);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..arguments.jobs.max(1) {
            // Where no more threads can start, there are fewer.
            let _ = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        }
    });
    print_figures(figures.into_inner().unwrap_or_else(PoisonError::into_inner), start)
}

/// Prints what became of proofs; success if none was accepted, and none crashed the checker.
fn print_figures(figures: BTreeMap<String, fuzz::mutation::Figures>, start: Instant) -> ExitCode {
    let mut all = fuzz::mutation::Figures::default();
    for (kind, found) in figures {
        println!("{kind}: {found:?}");
        all.join(found);
    }
    println!("{:.0} s: {all:?}", start.elapsed().as_secs_f64());
    if all.accepted + all.crashed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.census {
        let count = arguments.count.unwrap_or(2_000);
        for (name, found) in fuzz::census::census(arguments.seed..arguments.seed.saturating_add(count)) {
            println!("{found:6} of {count}: {name}");
        }
        return ExitCode::SUCCESS;
    }
    if arguments.universal {
        return try_universal(&arguments);
    }
    if arguments.proofs {
        return change_proofs(&arguments);
    }
    if arguments.print {
        let case = Case::new(kind_of(&arguments, arguments.seed), arguments.seed);
        println!("// check: {}\n{}", case.check.name(), case.text);
        return ExitCode::SUCCESS;
    }
    let start = Instant::now();
    let (next, stop) = (AtomicU64::new(arguments.seed), AtomicBool::new(false));
    let figures = Mutex::new(Figures::default());
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..arguments.jobs.max(1))
            .filter_map(|_| {
                let work = || work(&arguments, &next, &stop, &figures);
                std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).ok()
            })
            .collect();
        let mut printed = Instant::now();
        while !workers.iter().all(|worker| worker.is_finished()) {
            std::thread::sleep(Duration::from_millis(100));
            if printed.elapsed() >= INTERVAL {
                figures.lock().unwrap_or_else(PoisonError::into_inner).print(start);
                printed = Instant::now();
            }
        }
    });
    let figures = figures.into_inner().unwrap_or_else(PoisonError::into_inner);
    figures.print(start);
    fuzz::headers::remove();
    if figures.wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
