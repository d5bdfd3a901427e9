//! Writes the files of a reproducer: the sources, the schedule, the runtime and a `Makefile`.

use crate::reproducer::Unforced;
use crate::reproducer::bind::{Binding, Objects, Via};
use crate::reproducer::events::{Execution, Instance};
use crate::reproducer::forced::{
    check_addresses, check_assembly, check_choices, check_ends, check_library, check_overflow, check_reads,
    check_turns, check_waits,
};
use crate::reproducer::inputs::{FUNCTIONS, inputs, is_input, words};
use checker::{Refutation, ReplayedViolation};
use ir::{ErrorKind, Program, Span};
use std::collections::BTreeSet;
use std::fmt::Write;

/// A file to write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct File {
    /// Its name in the reproducer's folder.
    pub name: String,
    /// What it holds.
    pub text: String,
}

/// How the program is compiled.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Compilation {
    /// The names and texts of its files.
    pub sources: Vec<(String, String)>,
    /// Words for the compiler: where headers are, macros, the standard.
    pub arguments: Vec<String>,
}

/// The runtime, compiled with every reproducer.
const RUNTIME: &str = include_str!("runtime.c");

/// Makes the files, or says why the execution cannot be forced on the compiled program. `line` gives the
/// source line at a span.
pub fn make<'s>(
    refutation: &Refutation,
    compilation: &Compilation,
    line: impl Fn(Span) -> Option<&'s str> + Copy,
) -> Result<Vec<File>, Unforced> {
    let mut texts = compilation.sources.iter();
    if let Some(word) = texts.find_map(|(_, text)| missing(&refutation.program, text)) {
        return Err(Unforced::Missing(word.to_owned()));
    }
    if let ReplayedViolation::Leak(_) = &refutation.replayed.violation {
        return Err(Unforced::Leak);
    }
    let execution = Execution::new(refutation)?;
    if let ReplayedViolation::Race { accesses, .. } = &refutation.replayed.violation
        && let Some(access) =
            accesses.iter().find(|access| line(access.span).is_some_and(initialises_an_atomic))
    {
        return Err(Unforced::Atomic(access.span));
    }
    check_choices(&execution)?;
    check_addresses(&execution)?;
    check_waits(refutation, &execution)?;
    check_ends(refutation, &execution)?;
    check_reads(refutation, &execution)?;
    check_overflow(refutation, &execution, line)?;
    check_library(refutation, line)?;
    let schedule = Schedule::new(refutation, &execution, line)?;
    check_assembly(&execution, &schedule.turns(), line)?;
    check_turns(&execution, &schedule.turns(), line)?;
    let mut files = Vec::new();
    let mut compiled = Vec::new();
    for (index, (name, text)) in compilation.sources.iter().enumerate() {
        let base = name.rsplit('/').next().unwrap_or(name);
        let taken = ["runtime.c", "schedule.h"].contains(&base) || compiled.iter().any(|other| other == base);
        let name = if taken { format!("{index}-{base}") } else { base.to_owned() };
        compiled.push(name.clone());
        files.push(File { name, text: text.clone() });
    }
    files.push(File {
        name: "schedule.h".to_owned(),
        text: schedule.text(refutation, &execution, compilation, line),
    });
    files.push(File { name: "runtime.c".to_owned(), text: RUNTIME.to_owned() });
    let makefile = schedule.makefile(refutation, &compiled, compilation);
    files.push(File { name: "Makefile".to_owned(), text: makefile });
    Ok(files)
}

/// Whether a line has the initialisation of an atomic variable, which compilers make atomic.
fn initialises_an_atomic(line: &str) -> bool {
    words(line).any(|word| word == "atomic_init")
}

/// Whether something of the program runs when it ends.
fn acts_at_exit(text: &str) -> bool {
    words(text).any(|word| ["atexit", "destructor", "__destructor__"].contains(&word))
}

/// A function or construct in the program's text that only verifiers and kernels know.
fn missing<'t>(program: &Program, text: &'t str) -> Option<&'t str> {
    const FUNCTIONS: [&str; 8] = [
        "set_bit",
        "clear_bit",
        "change_bit",
        "test_and_set_bit",
        "test_and_clear_bit",
        "test_and_change_bit",
        "printk",
        "__VERIFIER_nondet_memory",
    ];
    let is_defined = |word: &str| program.templates.iter().any(|template| template.name == word);
    words(text)
        .find(|word| word.starts_with("__CPROVER_ASYNC") || (FUNCTIONS.contains(word) && !is_defined(word)))
        .or_else(|| variant(text))
}

/// The symbol of a variant of a function that only other systems have (`asm("_read$UNIX2003")`).
fn variant(text: &str) -> Option<&str> {
    let mut literals = text.split('"').skip(1).step_by(2);
    literals.find(|text| {
        let symbol = text.split_once('$').filter(|(name, _)| name.starts_with('_'));
        symbol.is_some_and(|(name, _)| words(name).eq([name]))
    })
}

/// One line of the table of events.
struct Event {
    step: usize,
    thread: usize,
    /// Read or write of an object's bytes, or the creation of a thread.
    what: What,
}

enum What {
    Access { object: usize, offset: u64, size: u64, write: bool, waits: bool },
    Creation(usize),
}

struct Schedule {
    objects: Vec<(Instance, Binding, u64)>,
    /// In order; consecutive ones of a thread are one turn.
    events: Vec<Event>,
    /// What the invalid access at the end missed: an object, and how far from its start.
    outside: Option<(usize, u64)>,
    /// Whether AddressSanitizer looks for the invalid access: it does not go together with the schedule of
    /// accesses.
    is_sanitized: bool,
    inputs: Vec<Vec<ir::Value>>,
}

impl Schedule {
    fn new<'s>(
        refutation: &Refutation,
        execution: &Execution<'_>,
        line: impl Fn(Span) -> Option<&'s str>,
    ) -> Result<Self, Unforced> {
        let program = &refutation.program;
        let known = Objects::new(execution);
        let inputs = inputs(execution, &line)?;
        let mut schedule =
            Self { objects: Vec::new(), events: Vec::new(), outside: None, is_sanitized: false, inputs };
        let last = match refutation.replayed.violation {
            ReplayedViolation::Error { kind: ErrorKind::InvalidAccess | ErrorKind::InvalidFree, .. } => {
                refutation.trace.steps.last().map(|step| (step.thread, step.edge))
            }
            ReplayedViolation::Error {
                kind: ErrorKind::ReachError | ErrorKind::Assertion | ErrorKind::Overflow,
                ..
            }
            | ReplayedViolation::Race { .. }
            | ReplayedViolation::Deadlock(_)
            | ReplayedViolation::Leak(_) => None,
        };
        for touch in execution.events(last, |instance| known.found_at(instance)) {
            if is_of_library(program, touch.instance) {
                // A race on what the library keeps is not seen.
                if touch.step >= execution.edges.len() {
                    return Err(Unforced::Variable(program.objects[touch.instance.0].name.clone()));
                }
                continue;
            }
            let object = schedule.object(program, &known, touch.instance)?;
            let what = What::Access {
                object,
                offset: touch.offset,
                size: touch.size,
                write: touch.write,
                waits: touch.waits,
            };
            schedule.events.push(Event { step: touch.step, thread: touch.thread, what });
        }
        for (thread, creation) in execution.creations.iter().enumerate() {
            if let Some(creation) = creation {
                let what = What::Creation(thread);
                schedule.events.push(Event { step: creation.step, thread: creation.by, what });
            }
        }
        schedule.events.sort_by_key(|event| event.step);
        let is_creation = |event: &Event| matches!(event.what, What::Creation(_));
        schedule.is_sanitized =
            goal(&refutation.replayed.violation) == "GOAL_BOUNDS" && schedule.events.iter().all(is_creation);
        schedule.outside = schedule.find_outside(refutation, execution, &known, line)?;
        Ok(schedule)
    }

    /// The steps of the events, turn by turn.
    fn turns(&self) -> Vec<Vec<usize>> {
        let turns = self.events.chunk_by(|one, other| one.thread == other.thread);
        turns.map(|turn| turn.iter().map(|event| event.step).collect()).collect()
    }

    /// What the invalid access at the end missed. The compiler sees to arrays that are indexed by name, the
    /// runtime to what is allocated.
    fn find_outside<'s>(
        &mut self,
        refutation: &Refutation,
        execution: &Execution<'_>,
        known: &Objects,
        line: impl Fn(Span) -> Option<&'s str>,
    ) -> Result<Option<(usize, u64)>, Unforced> {
        let ReplayedViolation::Error {
            kind: ErrorKind::InvalidAccess | ErrorKind::InvalidFree, span, ..
        } = refutation.replayed.violation
        else {
            return Ok(None);
        };
        let Some(last) = refutation.trace.steps.last() else { return Ok(None) };
        // Without events, when other threads give memory back is not scheduled.
        let freed = execution.frees_by_others(last.thread).next().map(|step| execution.spans[step]);
        if let Some(span) = freed.filter(|_| self.is_sanitized) {
            return Err(Unforced::Choice(span));
        }
        if let Some(id) = execution.dead(last.thread, last.edge) {
            let object = &refutation.program.objects[id];
            // AddressSanitizer sees the end of variables, but not of those whose size is not known before, or
            // in whose place there is the same one of another round. When those of other threads end is not
            // scheduled.
            let is_alone = execution.creations.len() == 1;
            // Nor does it see the end of temporary objects.
            let is_variable = object.size > 0 && !object.name.starts_with('%');
            let is_seen = self.is_sanitized && is_alone && is_variable && !execution.is_there(id);
            let is_seen = is_seen || is_of_heap(object);
            return if is_seen { Ok(None) } else { Err(Unforced::Dead(object.name.clone())) };
        }
        if self.is_sanitized {
            return Ok(None);
        }
        let Some((instance, by)) = execution.missed(last.thread, last.edge) else { return Ok(None) };
        match self.object(&refutation.program, known, instance) {
            Ok(object) => Ok(Some((object, by))),
            Err(_) if line(span).is_some_and(|line| line.contains('[')) => Ok(None),
            Err(_) => Err(Unforced::Unseen(refutation.program.objects[instance.0].name.clone())),
        }
    }

    /// The number of an object in the table; what points to it comes along.
    fn object(&mut self, program: &Program, known: &Objects, instance: Instance) -> Result<usize, Unforced> {
        if let Some(index) = self.objects.iter().position(|(other, ..)| *other == instance) {
            return Ok(index);
        }
        let (found, size) = known.of(program, instance)?.clone();
        if let Binding::Pointed { via: Via::Cell(by, _), .. } = &found {
            self.object(program, known, *by)?;
        }
        self.objects.push((instance, found, size));
        Ok(self.objects.len() - 1)
    }

    fn text<'s>(
        &self,
        refutation: &Refutation,
        execution: &Execution<'_>,
        compilation: &Compilation,
        line: impl Fn(Span) -> Option<&'s str>,
    ) -> String {
        let mut out = String::from("/* The schedule that leads to the violation: see runtime.c. */\n");
        let goal = goal(&refutation.replayed.violation);
        let acts_at_exit = compilation.sources.iter().any(|(_, text)| acts_at_exit(text));
        let _ = writeln!(out, "#define GOAL {goal}\n#define GOAL_IS_RACE {}", u8::from(goal == "GOAL_RACE"));
        let _ = writeln!(out, "#define SANITIZED {}", u8::from(self.is_sanitized));
        let _ = writeln!(out, "#define ACTS_AT_EXIT {}", u8::from(acts_at_exit));
        let (outside, by) = self.outside.map_or((-1, 0), |(object, by)| (object as i64, by));
        let _ = writeln!(out, "#define OUTSIDE {outside}\n#define OUTSIDE_BY {by}\n");
        out.push_str("static const struct object objects[] = {\n");
        for (_, found, size) in &self.objects {
            let _ = match found {
                Binding::Symbol(name) => writeln!(out, "  {{\"{name}\", -1, {size}, 0}},"),
                Binding::Allocated { thread, rank, .. } => {
                    writeln!(out, "  {{0, {thread}, {size}, {rank}}},")
                }
                Binding::Pointed { .. } => writeln!(out, "  {{0, -1, {size}, 0}},"),
            };
        }
        out.push_str("  {0, -1, 0, 0},\n};\n\nstatic const struct binding bindings[] = {\n");
        for (index, (_, found, _)) in self.objects.iter().enumerate() {
            if let Binding::Pointed { step, via, target } = found {
                let (via, offset) = match via {
                    Via::Argument => (-1, 0),
                    Via::Cell(by, offset) => {
                        let by = self.objects.iter().position(|(other, ..)| other == by);
                        (by.map_or(-1, |by| by as i64), *offset)
                    }
                };
                let _ = writeln!(out, "  {{{step}, {index}, {via}, {offset}, {target}}},");
            }
        }
        out.push_str("  {-1, 0, 0, 0, 0},\n};\n\n");
        self.threads(&mut out, refutation, execution);
        self.events(&mut out, execution, line);
        let mut names: BTreeSet<&str> = BTreeSet::new();
        for (_, text) in &compilation.sources {
            names.extend(words(text).filter(|word| is_input(word)));
        }
        out.push_str("\nunsigned long long threadproof_input(void);\n");
        for name in names {
            let _ = writeln!(
                out,
                "__attribute__((weak)) unsigned long long {name}(void) {{ return threadproof_input(); }}"
            );
        }
        for name in FUNCTIONS {
            let _ = writeln!(out, "long __wrap_{name}(void) {{ return threadproof_input(); }}");
        }
        out
    }

    fn threads(&self, out: &mut String, refutation: &Refutation, execution: &Execution<'_>) {
        let important: Vec<usize> = match &refutation.replayed.violation {
            ReplayedViolation::Error { thread, .. } => vec![*thread],
            ReplayedViolation::Race { accesses, .. } => accesses.iter().map(|access| access.thread).collect(),
            ReplayedViolation::Deadlock(waits) => waits.iter().map(|wait| wait.thread).collect(),
            ReplayedViolation::Leak(_) => Vec::new(),
        };
        let last = execution.states.last().expect("there is a first state");
        let mut values = String::new();
        let mut first = 0;
        out.push_str("static const struct thread threads[] = {\n");
        for (thread, inputs) in self.inputs.iter().enumerate() {
            let ended = u8::from(last.threads[thread].activations.is_empty());
            // Of a race or a deadlock, all threads stop where the execution ends.
            let is_error = matches!(refutation.replayed.violation, ReplayedViolation::Error { .. });
            let important = u8::from(is_error && important.contains(&thread));
            let waits = match &refutation.replayed.violation {
                ReplayedViolation::Deadlock(waits) => {
                    u8::from(waits.iter().any(|wait| wait.thread == thread))
                }
                ReplayedViolation::Error { .. } | ReplayedViolation::Race { .. } => 0,
                ReplayedViolation::Leak(_) => 0,
            };
            let name = &refutation.replayed.threads[thread].name;
            let _ =
                writeln!(out, "  {{{ended}, {important}, {waits}, {first}, {}}}, /* {name} */", inputs.len());
            first += inputs.len();
            for value in inputs {
                // As bits: the smallest number has no literal of its own.
                let _ = write!(values, "{}ull, ", *value as u64);
            }
        }
        let _ = writeln!(out, "}};\n\nstatic const unsigned long long inputs[] = {{{values}0}};\n");
    }

    fn events<'s>(
        &self,
        out: &mut String,
        execution: &Execution<'_>,
        line: impl Fn(Span) -> Option<&'s str>,
    ) {
        let mut turns: Vec<(usize, usize, usize)> = Vec::new();
        let mut table = String::new();
        for (index, event) in self.events.iter().enumerate() {
            match turns.last_mut() {
                Some((thread, _, events)) if *thread == event.thread => *events += 1,
                _ => {
                    let _ = writeln!(table, "  /* turn {}: thread {} */", turns.len(), event.thread);
                    turns.push((event.thread, index, 1));
                }
            }
            let (call, line_number) = (execution.calls[event.step], execution.spans[event.step].line);
            let step = match event.what {
                What::Access { object, offset, size, write, waits } => {
                    let kind = match write {
                        true if execution.frees(event.step) => "FREE",
                        true => "WRITE",
                        false => "READ",
                    };
                    let other = if waits { -2 } else { -1 };
                    format!("{{{call}, {kind}, {object}, {offset}, {size}, {other}, {line_number}}}")
                }
                What::Creation(thread) => {
                    format!("{{{}, CREATE, -1, 0, 0, {thread}, {line_number}}}", event.step)
                }
            };
            let span = execution.spans[event.step];
            let code = line(span).unwrap_or("").replace("*/", "* /").replace("/*", "/ *");
            let _ = writeln!(table, "  {step}, /* line {}: {} */", span.line, code.trim_end_matches('\\'));
        }
        let _ = writeln!(
            out,
            "static const struct event events[] = {{\n{table}  {{-1, READ, -1, 0, 0, -1, 0}},\n}};\n"
        );
        out.push_str("static const struct turn turns[] = {\n");
        for (thread, first, events) in turns {
            let _ = writeln!(out, "  {{{thread}, {first}, {events}}},");
        }
        out.push_str("  {-1, 0, 0},\n};\n");
    }

    fn makefile(&self, refutation: &Refutation, compiled: &[String], compilation: &Compilation) -> String {
        let goal = goal(&refutation.replayed.violation);
        let traps = match goal {
            "GOAL_OVERFLOW" => {
                " -fsanitize=signed-integer-overflow,shift,integer-divide-by-zero -fsanitize-undefined-trap-on-error"
            }
            "GOAL_BOUNDS" => " -fsanitize=bounds,null -fsanitize-undefined-trap-on-error",
            _ => "",
        };
        // AddressSanitizer does not see the ends of variables that several files may define.
        let common = if self.is_sanitized && compiled.len() == 1 { "-fno-common" } else { "-fcommon" };
        let sanitizer = if self.is_sanitized { "address" } else { "thread" };
        let link = match goal {
            "GOAL_RACE" => " -fsanitize=thread",
            _ if self.is_sanitized => " -fsanitize=address",
            _ => "",
        };
        let objects: Vec<String> = (0..compiled.len()).map(|index| format!("program{index}.o")).collect();
        let arguments: Vec<String> = compilation.arguments.iter().map(|word| quoted(word)).collect();
        let wrapped: Vec<String> = wrapped().iter().map(|name| format!("-Wl,--wrap={name}")).collect();
        let mut out = String::from(
            "# `make && ./repro` runs the program along the schedule in schedule.h. It ends with a line that says whether the violation was reproduced.\n\
             # Linux, with gcc or clang; CC names another compiler.\n",
        );
        let _ = writeln!(
            out,
            "option = $(shell echo | $(CC) $(1) -x c -c - -o /dev/null 2>/dev/null && echo '$(1)')"
        );
        let _ = writeln!(
            out,
            "CFLAGS := -O0 -g -w -std=gnu17 {common} -fno-builtin -pthread -fsanitize={sanitizer} -finstrument-functions{traps} \\\n  \
             $(call option,-ftrivial-auto-var-init=zero) $(call option,-mllvm -tsan-instrument-read-before-write) \\\n  \
             -Wno-error=implicit-function-declaration -Wno-error=int-conversion -Wno-error=incompatible-pointer-types {}",
            arguments.join(" ")
        );
        let _ = writeln!(out, "WRAP = {}\n", wrapped.join(" \\\n  "));
        let _ = writeln!(
            out,
            "# Operations on atomic floating-point numbers need a library of the compiler.\n\
             ATOMIC := $(shell echo 'int main(void) {{ return 0; }}' | $(CC) -x c - -latomic -o /dev/null 2>/dev/null && echo -latomic)\n\
             repro: {} runtime.o\n\t$(CC) -pthread{link} $(WRAP) -o $@ $^ -lm $(ATOMIC)\n",
            objects.join(" ")
        );
        let _ = writeln!(
            out,
            "runtime.o: runtime.c schedule.h\n\t$(CC) -O1 -foptimize-sibling-calls -g -w -pthread -c -o $@ runtime.c\n"
        );
        for (object, source) in objects.iter().zip(compiled) {
            let _ = writeln!(out, "{object}: {source}\n\t$(CC) $(CFLAGS) -c -o $@ {}\n", quoted(source));
        }
        let _ = writeln!(out, "clean:\n\trm -f repro *.o");
        out
    }
}

/// Whether an object is made by a function of the library, and gone when it is given back.
pub(super) fn is_of_heap(object: &ir::Object) -> bool {
    object.storage == ir::Storage::Site && object.name.contains(' ')
}

/// Whether an object is part of a library function's model, and none of the program's.
fn is_of_library(program: &Program, instance: Instance) -> bool {
    let object = &program.objects[instance.0];
    object.storage != ir::Storage::Site
        && (object.name.contains(' ') || object.name.starts_with('%') || object.name == "errno")
}

/// What the runtime waits for.
fn goal(violation: &ReplayedViolation) -> &'static str {
    match violation {
        ReplayedViolation::Error { kind, .. } => match kind {
            ErrorKind::ReachError | ErrorKind::Assertion => "GOAL_ERROR",
            ErrorKind::InvalidAccess | ErrorKind::InvalidFree => "GOAL_BOUNDS",
            ErrorKind::Overflow => "GOAL_OVERFLOW",
        },
        ReplayedViolation::Race { .. } => "GOAL_RACE",
        ReplayedViolation::Deadlock(_) => "GOAL_DEADLOCK",
        // Refused before ([`Unforced::Leak`]).
        ReplayedViolation::Leak(_) => "GOAL_ERROR",
    }
}

/// The functions whose calls the linker leads to the runtime.
fn wrapped() -> Vec<String> {
    let mut names: Vec<String> = FUNCTIONS.iter().map(|name| (*name).to_owned()).collect();
    for bytes in [1, 2, 4, 8, 16] {
        for access in ["read", "write"] {
            names.push(format!("__tsan_{access}{bytes}"));
            names.push(format!("__tsan_volatile_{access}{bytes}"));
            if bytes > 1 {
                names.push(format!("__tsan_unaligned_{access}{bytes}"));
            }
        }
    }
    let operations = [
        "load",
        "store",
        "exchange",
        "fetch_add",
        "fetch_sub",
        "fetch_and",
        "fetch_or",
        "fetch_xor",
        "fetch_nand",
        "compare_exchange_strong",
        "compare_exchange_weak",
        "compare_exchange_val",
    ];
    for bits in [8, 16, 32, 64] {
        names.extend(operations.iter().map(|operation| format!("__tsan_atomic{bits}_{operation}")));
    }
    let others = "__tsan_read_range __tsan_write_range memcpy memmove memset malloc calloc realloc aligned_alloc free \
        pthread_create pthread_join thrd_create thrd_join pthread_mutex_init pthread_mutex_lock pthread_mutex_trylock \
        pthread_mutex_timedlock pthread_mutex_unlock pthread_rwlock_init pthread_rwlock_rdlock pthread_rwlock_tryrdlock \
        pthread_rwlock_wrlock pthread_rwlock_trywrlock pthread_rwlock_unlock pthread_spin_init pthread_spin_lock \
        pthread_spin_trylock pthread_spin_unlock mtx_init mtx_lock mtx_trylock mtx_unlock sem_init sem_wait sem_trywait sem_timedwait \
        sem_post sem_getvalue pthread_barrier_init pthread_barrier_wait pthread_barrier_destroy pthread_once call_once pthread_cond_wait pthread_cond_timedwait pthread_cond_signal pthread_cond_broadcast cnd_signal cnd_broadcast cnd_wait \
        cnd_timedwait atoi atol atoll atof strtol strtoul strtoll strtoull puts fputs unlink remove rmdir chdir access mkdir \
        __assert_fail exit _exit abort main";
    names.extend(others.split_whitespace().map(str::to_owned));
    names
}

/// A word for the shell, in a `Makefile`.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''").replace('$', "$$"))
}
