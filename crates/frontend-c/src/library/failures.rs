//! Functions that fail when there is not enough of something: memory, threads, locks.
//!
//! They succeed, which is noted, unless `--failures` asks for the other case: then each call may also fail,
//! at any time, and do nothing else. The models know nothing of that; a failure is added beside what they
//! emit.

use super::emit::int;
use super::{Answer, Call, Context};
use ir::{Assumption, Expr, Lhs, LocationId, Op, Value};

/// What a program asks for.
struct Resource {
    /// What is taken for granted.
    granted: &'static str,
    /// The functions that ask for it, and what they give when there is none.
    functions: &'static [(&'static str, Value)],
}

const ENOMEM: Value = 12;
const EAGAIN: Value = 11;
/// What the functions of `<threads.h>` give, as glibc numbers it.
const THRD_ERROR: Value = 2;

const RESOURCES: [Resource; 3] = [
    Resource {
        granted: "allocating memory always succeeds (with --failures it need not)",
        functions: &[
            ("malloc", 0),
            ("calloc", 0),
            ("realloc", 0),
            ("valloc", 0),
            ("aligned_alloc", 0),
            ("memalign", 0),
            ("posix_memalign", ENOMEM),
            ("strdup", 0),
            ("strndup", 0),
        ],
    },
    Resource {
        granted: "starting a thread always succeeds (with --failures it need not)",
        functions: &[("pthread_create", EAGAIN), ("thrd_create", THRD_ERROR)],
    },
    Resource {
        granted: "making a lock, semaphore or barrier always succeeds (with --failures it need not)",
        functions: &[
            ("pthread_mutex_init", ENOMEM),
            ("pthread_rwlock_init", ENOMEM),
            ("pthread_cond_init", ENOMEM),
            ("pthread_barrier_init", ENOMEM),
            ("pthread_spin_init", EAGAIN),
            ("pthread_key_create", EAGAIN),
            ("mtx_init", THRD_ERROR),
            ("cnd_init", THRD_ERROR),
            ("tss_create", THRD_ERROR),
            ("sem_init", -1),
        ],
    },
];

/// Whether this is said once for the whole program.
pub fn is_granted(text: &str) -> bool {
    RESOURCES.iter().any(|resource| resource.granted == text)
}

/// Adds what a call does if it fails to what its model emitted from a location on.
pub(super) fn add(context: &mut Context<'_>, call: &Call<'_>, from: LocationId, answer: Answer) -> Answer {
    let find = |resource: &'static Resource| {
        let named = resource.functions.iter().find(|(name, _)| *name == call.name);
        named.map(|(_, failure)| (resource.granted, *failure))
    };
    let Some((granted, failure)) = RESOURCES.iter().find_map(find) else { return answer };
    if !context.failures {
        let assumption = Assumption { text: granted.to_owned(), span: call.span, limits_proof: false };
        if !context.program.assumptions.contains(&assumption) {
            context.program.assumptions.push(assumption);
        }
        return answer;
    }
    let (failed, done) = (context.builder.label(), context.builder.label());
    let span = context.builder.span;
    context.builder.template.edge(from, failed, vec![Op::Assume(Expr::bool(true))], span);
    let value = match answer {
        Answer::Value(value) => value,
        Answer::Nothing => int(0),
    };
    let ty = context.program.type_in(&context.builder.template, &value);
    let result = context.builder.temporary(ty);
    context.builder.set(Lhs::Local(result), value);
    context.builder.jump(done);
    context.builder.continue_at(failed);
    context.builder.set(Lhs::Local(result), Expr::int(failure, ty));
    context.builder.place(done);
    Answer::Value(Expr::Local(result))
}
