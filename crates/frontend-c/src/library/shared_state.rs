//! Functions that threads must not call side by side, because they share a state that is not protected
//! (POSIX XSH 2.9.1, C11 7.22.2.1p3, 7.22.4.6p2, 7.24.6.2p3).
//!
//! Each has an object of one byte for that state, which its calls access without protection; so calls that
//! nothing orders race. Where common libraries do protect the state, although nobody has to, neither is
//! said: a proof must cover such an access, and no execution with one is evidence.

use super::{Call, Context};
use ir::{Expr, IntType, Layout, Lhs, Op, Place, Storage};

/// What a call does to the state that it shares.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Touch {
    Reads,
    Writes,
    /// It may write it.
    MayWrite,
}

/// The name of the byte that stands for the environment: 1 once it was changed.
pub(super) const ENVIRONMENT: &str = "the environment";

const TABLE: &[(&[&str], &str, Touch)] = &[
    (&["rand", "random", "srand", "srandom"], "the state of rand", Touch::MayWrite),
    (&["drand48", "lrand48", "mrand48", "srand48"], "the state of drand48", Touch::Writes),
    (&["strerror", "strsignal"], "the text of strerror", Touch::MayWrite),
    (&["setenv", "unsetenv", "putenv", "clearenv"], ENVIRONMENT, Touch::Writes),
    (&["getenv", "secure_getenv"], ENVIRONMENT, Touch::Reads),
    (&["putchar_unlocked"], "the buffer of stdout", Touch::Writes),
    (&["getchar_unlocked"], "the buffer of stdin", Touch::Writes),
];

/// Accesses the state that a function shares with others.
pub(super) fn touch(context: &mut Context<'_>, call: &Call<'_>) {
    let Some((_, name, touch)) = TABLE.iter().find(|(names, _, _)| names.contains(&call.name)) else {
        return;
    };
    let object = context.own_object(name, Storage::Static, Layout::Bytes(1), 1);
    let place = Place::pointee(Expr::Address(object, 0), IntType::U8);
    let write = Op::set(Lhs::Memory(place.clone()), Expr::int(1, IntType::U8));
    match touch {
        Touch::Reads => {
            context.builder.save(Expr::load(place), IntType::U8);
        }
        Touch::Writes => {
            context.builder.emit(write);
            // What other functions find there is not modelled, but for the numbers of `drand48`.
            if !call.name.ends_with("48") {
                context.lose_track();
            }
        }
        Touch::MayWrite => {
            let (written, done) = (context.builder.label(), context.builder.label());
            context.builder.alternative(Op::Assume(Expr::bool(true)), done);
            context.builder.alternative(Op::Assume(Expr::bool(true)), written);
            context.builder.continue_at(written);
            context.lose_path();
            context.builder.emit(write);
            context.builder.place(done);
        }
    }
}
