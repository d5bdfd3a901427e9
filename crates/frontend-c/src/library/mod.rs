//! What the functions of the C libraries do, as operations on the memory of their objects.
//!
//! A call of a function that has no body in the program comes here with its arguments evaluated. A model
//! emits what the function does and says what it returns. There is one table of models, in families by
//! module; both [`model`] and [`is_modelled`] look names up in it, so they cannot disagree.
//!
//! Synchronisation objects live in the bytes of the C object. Their words are touched by lock operations,
//! or through atomic places, so they never race. An action of several accesses is made one step of the
//! program by atomic locations: only its first access, which may wait, starts from a location that is not
//! atomic. So nothing ever waits inside an atomic region, and splitting shared accesses finds nothing to
//! split.
//!
//! Direction: exact as POSIX, C11 and glibc have it, except where an [`Assumption`](ir::Assumption) is
//! added (with `limits_proof` where behaviours are missing) or a result is
//! [`Rhs::Unknown`](ir::Rhs::Unknown) (where there are too many). What else is taken for granted is in
//! `SOUNDNESS.md` (assumption 13).

mod atomics;
mod characters;
mod classified;
mod condition;
mod emit;
mod ending;
mod environment;
mod errno;
mod failures;
mod files;
mod formats;
mod fractions;
mod given;
mod identity;
mod input;
mod kept;
mod kernel;
mod keys;
mod lists;
mod memory;
mod mutex;
mod network;
mod numbers;
mod once;
mod options;
mod outside;
mod pointers;
mod polling;
mod printing;
mod processes;
mod regular;
mod rwlock;
mod scanning;
mod semaphore;
mod shared_state;
mod signals;
mod simplify;
mod sorting;
mod streams;
mod strings;
#[cfg(test)]
mod tests;
mod texts;
mod threads;
mod times;
mod tokens;
mod verifier;

pub use classified::classified;
pub use ending::runs_destructors;
pub use failures::is_granted;
pub use given::know;
pub use input::{comes_back, reads_itself};
pub use options::own_variable;
pub use outside::READ_ONLY;
pub use simplify::simplify;
pub use threads::NOT_JOINED;

use crate::builder::Builder;
use ir::{Expr, IntType, Program, Span, TemplateId};

/// A call of a function that the models may know, arguments already evaluated left to right.
pub struct Call<'a> {
    /// The function's name.
    pub name: &'a str,
    /// What is passed.
    pub arguments: Vec<Argument>,
    /// The type of the result. Nothing: the function is `void`, or its result is not used.
    pub result: Option<IntType>,
    /// Where the call is.
    pub span: Span,
}

/// An argument of a call.
pub struct Argument {
    /// Its value. May contain loads.
    pub value: Expr,
    /// The value's type.
    pub ty: IntType,
    /// What it points to, if it is a pointer.
    pub pointee: Option<Pointee>,
    /// The function, if the argument is directly a function's name.
    pub function: Option<TemplateId>,
    /// The bytes, if the argument is a string literal (a final zero may be there or not).
    pub text: Option<Vec<u8>>,
    /// Whether it is literally a null pointer.
    pub is_null: bool,
    /// The value, if it is a constant.
    pub constant: Option<i128>,
}

/// What a pointer points to.
pub struct Pointee {
    /// Its bytes; 0 for `void` and incomplete types.
    pub size: u64,
    /// Its type, if it is an integer or a pointer.
    pub scalar: Option<IntType>,
    /// Its type's name, for people.
    pub type_name: String,
    /// Whether it is a structure or union that the program does not define.
    pub is_incomplete_record: bool,
    /// Whether it is atomic.
    pub atomic: bool,
    /// Whether it is a pointer itself.
    pub is_pointer: bool,
    /// Whether it is a pointer, or has one as a part.
    pub has_pointer: bool,
    /// What it takes and gives, if it is a function.
    pub callback: Option<Callback>,
}

/// What a function takes and gives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Callback {
    /// The types of its parameters, and whether each is a pointer.
    pub parameters: Vec<(IntType, bool)>,
    /// The type of its result, if it has one.
    pub result: Option<IntType>,
}

/// What came of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It was modelled, and this is its result, of the call's result type.
    Value(Expr),
    /// It was modelled and has no result.
    Void,
    /// The models do not know this function, or not with such arguments. Nothing was emitted.
    NotKnown,
}

/// What a model writes to.
pub struct Context<'a> {
    /// The template that the call is in.
    pub builder: &'a mut Builder,
    /// The program, to add objects and assumptions.
    pub program: &'a mut Program,
    /// Whether what may fail for want of memory and the like may do so.
    pub failures: bool,
}

/// What a model answers: a value of whatever type, or nothing. The absence of an answer means that the
/// model does not know such a call, and that it emitted nothing.
enum Answer {
    Value(Expr),
    Nothing,
}

type Model = fn(&mut Context<'_>, &Call<'_>) -> Option<Answer>;

/// Which of two descriptions of a function counts, if the program defines it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wins {
    /// The model: the name has a meaning of its own, whatever body a program gives it. Where the name is
    /// one of the C library, a body counts that does not come from a header (`Lowering::runs_body`).
    Model,
    /// The program's body, as it would for a linker.
    Body,
}

/// Names that share a model.
struct Entry {
    /// Exact names; one that ends in `*` stands for all that start with the rest.
    names: &'static [&'static str],
    wins: Wins,
    model: Model,
}

const FAMILIES: &[&[Entry]] = &[
    threads::TABLE,
    mutex::TABLE,
    condition::TABLE,
    rwlock::TABLE,
    semaphore::TABLE,
    once::TABLE,
    keys::TABLE,
    ending::TABLE,
    atomics::TABLE,
    atomics::UPDATES,
    verifier::TABLE,
    memory::TABLE,
    strings::TABLE,
    tokens::TABLE,
    numbers::TABLE,
    fractions::TABLE,
    sorting::TABLE,
    input::TABLE,
    identity::TABLE,
    scanning::TABLE,
    printing::TABLE,
    errno::TABLE,
    characters::TABLE,
    outside::TABLE,
    signals::TABLE,
    polling::TABLE,
    kept::TABLE,
    files::TABLE,
    network::TABLE,
    processes::TABLE,
    options::TABLE,
    regular::TABLE,
    environment::TABLE,
    kernel::TABLE,
];

/// Families whose functions may set `errno` where their models do not say so.
const SET_ERRNO: &[&[Entry]] = &[
    input::TABLE,
    identity::TABLE,
    scanning::TABLE,
    printing::TABLE,
    outside::TABLE,
    signals::TABLE,
    polling::TABLE,
    kept::TABLE,
    files::TABLE,
    network::TABLE,
    processes::TABLE,
    options::TABLE,
    regular::TABLE,
    environment::TABLE,
];

/// Those of them that fail because of the world outside.
const BY_WORLD: &[&[Entry]] = &[input::TABLE, polling::TABLE, files::TABLE, network::TABLE, processes::TABLE];

/// The entry for a name: an exact one, or else the longest prefix.
fn look_up(name: &str) -> Option<&'static Entry> {
    let mut best: Option<(usize, &'static Entry)> = None;
    for entry in FAMILIES.iter().copied().flatten() {
        for pattern in entry.names {
            match pattern.strip_suffix('*') {
                None if *pattern == name => return Some(entry),
                Some(prefix)
                    if name.starts_with(prefix) && best.is_none_or(|(length, _)| length < prefix.len()) =>
                {
                    best = Some((prefix.len(), entry));
                }
                None | Some(_) => {}
            }
        }
    }
    best.map(|(_, entry)| entry)
}

/// Functions whose checked form has the same arguments in the same places, and more after them.
const CHECKED: &[&str] = &[
    "memcpy",
    "memmove",
    "mempcpy",
    "memset",
    "strcpy",
    "stpcpy",
    "strncpy",
    "strcat",
    "strncat",
    "read",
    "recv",
    "pread",
    "explicit_bzero",
];

/// The entry for a name, or for the function that it is another name of: compilers and their libraries say
/// `__builtin_memcpy`, `__builtin___memcpy_chk`, `__memcpy_chk` and `__isoc99_scanf`.
fn find(name: &str) -> Option<&'static Entry> {
    if let Some(entry) = look_up(name) {
        return Some(entry);
    }
    let builtin = name.strip_prefix("__builtin_");
    let plain = builtin.unwrap_or(name);
    let checked = plain.strip_prefix("__").and_then(|name| name.strip_suffix("_chk"));
    let checked = checked.filter(|name| CHECKED.contains(name));
    [builtin, checked, unversioned(plain)].into_iter().flatten().find_map(look_up)
}

/// Names of functions inside of old libraries, which headers made programs call.
const INTERNAL: &[(&str, &str)] = &[
    ("__strdup", "strdup"),
    ("__strtol_internal", "strtol"),
    ("__strtoul_internal", "strtoul"),
    ("__strtoll_internal", "strtoll"),
    ("__strtoull_internal", "strtoull"),
    ("__strtod_internal", "strtod"),
];

/// The function that a name is a version of.
fn unversioned(name: &str) -> Option<&str> {
    let prefixes = ["__isoc99_", "__isoc23_", "_IO_", "__xpg_"];
    let versioned = prefixes.iter().find_map(|prefix| name.strip_prefix(prefix));
    versioned.or_else(|| INTERNAL.iter().find(|(inner, _)| *inner == name).map(|(_, plain)| *plain))
}

/// Emits what a call does, if the function is known.
pub fn model(context: &mut Context<'_>, call: &Call<'_>) -> Outcome {
    let Some(entry) = find(call.name) else { return Outcome::NotKnown };
    let before = std::mem::replace(&mut context.builder.span, call.span);
    // A model that has nothing to say of such arguments leaves the call to what is said of all of its kind.
    let is_outside = SET_ERRNO.iter().copied().flatten().any(|other| std::ptr::eq(other, entry));
    pointers::check(context, call);
    let from = context.builder.here();
    let mut answer = (entry.model)(context, call);
    if answer.is_none() && is_outside && !call.arguments.is_empty() {
        answer = environment::not_modelled(context, call);
    }
    let answer = answer.map(|answer| failures::add(context, call, from, answer));
    if answer.is_some() && context.builder.is_reachable() {
        shared_state::touch(context, call);
        identity::change(context, call);
    }
    if answer.is_some() && is_outside && context.builder.is_reachable() {
        streams::use_all(context, call);
        // Where the arguments decide what fails, they decide why.
        let is_world = BY_WORLD.iter().copied().flatten().any(|other| std::ptr::eq(other, entry));
        match is_world && !call.name.starts_with("inet_") {
            true => errno::is_input(context),
            false => errno::may_be_set(context),
        }
    }
    context.builder.span = before;
    match (answer, call.result) {
        (None, _) => Outcome::NotKnown,
        (Some(_), None) => Outcome::Void,
        (Some(Answer::Value(value)), Some(ty)) => Outcome::Value(context.convert(value, ty)),
        // Declared with a result that the function does not have, as an undeclared function is.
        (Some(Answer::Nothing), Some(ty)) => Outcome::Value(Expr::int(0, ty)),
    }
}

/// Whether a function always stores something where the argument at this position points to, before it
/// reads anything there.
pub fn always_sets(name: &str, argument: usize) -> bool {
    matches!((name, argument), ("pthread_create" | "thrd_create", 0) | ("pthread_join" | "thrd_join", 1))
}

/// Whether the model of this name may be used even where the program has a body for it. (Other names may be
/// known too: [`model`] is asked about each function without a body.)
pub fn is_modelled(name: &str) -> bool {
    find(name).is_some_and(|entry| entry.wins == Wins::Model)
}

/// Whether a name has its meaning by the implementation, or by what verifiers agreed on, and not by the C
/// standard.
pub fn is_convention(name: &str) -> bool {
    name.starts_with('_') || verifier::TABLE.iter().any(|entry| entry.names.contains(&name))
}

/// Whether there is a model of this name.
pub fn is_known(name: &str) -> bool {
    find(name).is_some()
}

/// What a call of a function that is not defined may be swapped with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Swap {
    /// Anything: it gives a value, and neither reads nor writes memory of the program.
    Free,
    /// What does not write memory: it reads some.
    Reads,
    /// What does nothing that others see: it may end the program, or fail.
    Ends,
    /// Nothing is known.
    Never,
}

/// Functions that neither read nor write memory of the program; names that end in `*` are prefixes.
const FREE: &[&str] = &[
    "__VERIFIER_nondet_*",
    "nondet_*",
    "__threadproof_order",
    "__threadproof_orders",
    "__threadproof_generic_update",
    "malloc",
    "calloc",
    "valloc",
    "aligned_alloc",
    "memalign",
    "alloca",
    "pthread_self",
    "thrd_current",
    "abs",
    "labs",
    "llabs",
    "rand",
    "random",
    "getpid",
    "sysconf",
    "clock",
    "putchar",
    "getchar",
];

/// Functions that read memory of the program, and write none.
const READS: &[&str] = &[
    "strlen",
    "strnlen",
    "strcmp",
    "strncmp",
    "strcasecmp",
    "memcmp",
    "strchr",
    "strrchr",
    "strstr",
    "memchr",
    "atoi",
    "atol",
    "printf",
    "puts",
    "fputs",
    "fprintf",
];

/// Functions that do nothing but end the program, or fail.
const ENDS: &[&str] = &[
    "__assert*",
    "assert",
    "__VERIFIER_assert",
    "reach_error",
    "__VERIFIER_error",
    "__VERIFIER_assume",
    "assume_abort_if_not",
    "abort",
    "_exit",
    "_Exit",
];

/// What a call of a function that is not defined may be swapped with, by its name.
pub fn swap(name: &str) -> Swap {
    let name = name.strip_prefix("__builtin_").unwrap_or(name);
    let is_one_of = |names: &[&str]| {
        names.iter().any(|known| match known.strip_suffix('*') {
            Some(prefix) => name.starts_with(prefix),
            None => *known == name,
        })
    };
    if is_one_of(FREE) && !name.ends_with("nondet_memory") {
        Swap::Free
    } else if is_one_of(READS) {
        Swap::Reads
    } else if is_one_of(ENDS) {
        Swap::Ends
    } else {
        Swap::Never
    }
}
