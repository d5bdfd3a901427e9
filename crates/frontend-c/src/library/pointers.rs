//! Which pointers functions of the libraries need: one table of function, argument and need.
//!
//! A function may be called only with pointers to what it is made for (C11 7.1.4p1, POSIX XSH 2.1.1): one
//! that is null where null has no meaning, that points to memory that was given back, or to less than the
//! type that it says, is an invalid access, also where the model itself never reads or writes there (a
//! condition variable, an attribute). What models do read and write is checked like any other access, so
//! such arguments need not be named here.
//!
//! The checks exist in the bounds check only: their sole edge leads to an error of that kind.

use super::emit::truth;
use super::{Argument, Call, Context};
use ir::{ErrorKind, Expr, LocationKind, Op, Storage};

/// What a function needs of a pointer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Need {
    /// An object of the type that the pointer says.
    Object,
    /// The same, or null.
    ObjectOrNull,
    /// A string: at least one byte. Models read the others.
    String,
}

use Need::{Object, ObjectOrNull, String};

/// Names of functions, and what they need of which argument.
type Row = (&'static [&'static str], &'static [(usize, Need)]);

/// Functions, and what they need. A name that ends in `*` stands for all that start with the rest; all rows
/// count that a name is in.
const TABLE: &[Row] = &[
    // Synchronisation objects: models access some of their words only. All that stores a result is an access.
    (
        &[
            "pthread_cond_*",
            "cnd_*",
            "pthread_condattr_*",
            "pthread_mutexattr_*",
            "pthread_rwlockattr_*",
            "pthread_barrierattr_*",
            "pthread_attr_*",
            "pthread_mutex_*",
            "mtx_*",
            "pthread_rwlock_*",
            "pthread_spin_*",
            "pthread_barrier_*",
            "sem_init",
            "sem_destroy",
            "sem_getvalue",
            "sem_wait",
            "sem_trywait",
            "sem_timedwait",
            "sem_clockwait",
            "sem_post",
            "pthread_once",
            "call_once",
            "pthread_key_create",
            "tss_create",
        ],
        &[(0, Object)],
    ),
    (
        &["pthread_mutex_init", "pthread_cond_init", "pthread_rwlock_init", "pthread_barrier_init"],
        &[(1, ObjectOrNull)],
    ),
    (
        &[
            "pthread_attr_get*",
            "pthread_attr_setschedparam",
            "pthread_condattr_get*",
            "pthread_mutexattr_get*",
            "pthread_rwlockattr_get*",
            "pthread_barrierattr_get*",
            "pthread_mutex_getprioceiling",
            "sem_getvalue",
            "pthread_getcpuclockid",
        ],
        &[(1, Object)],
    ),
    (&["pthread_attr_getstack", "pthread_setschedparam"], &[(2, Object)]),
    (&["pthread_getschedparam"], &[(1, Object), (2, Object)]),
    (&["pthread_create"], &[(0, Object), (1, ObjectOrNull)]),
    (&["thrd_create"], &[(0, Object)]),
    (&["pthread_setname_np"], &[(1, String)]),
    // Times.
    (
        &[
            "pthread_mutex_timedlock",
            "pthread_rwlock_timedrdlock",
            "pthread_rwlock_timedwrlock",
            "sem_timedwait",
            "mtx_timedlock",
        ],
        &[(1, Object)],
    ),
    (
        &[
            "pthread_mutex_clocklock",
            "pthread_rwlock_clockrdlock",
            "pthread_rwlock_clockwrlock",
            "sem_clockwait",
            "pthread_cond_timedwait",
            "cnd_timedwait",
        ],
        &[(2, Object)],
    ),
    (&["pthread_cond_clockwait"], &[(3, Object)]),
    (&["nanosleep", "thrd_sleep"], &[(0, Object), (1, ObjectOrNull)]),
    (&["clock_nanosleep"], &[(2, Object), (3, ObjectOrNull)]),
    (&["clock_gettime", "clock_settime"], &[(1, Object)]),
    (&["timespec_get"], &[(0, Object)]),
    (
        &["localtime", "gmtime", "ctime", "asctime", "mktime", "timegm", "asctime_r", "ctime_r"],
        &[(0, Object)],
    ),
    (&["localtime_r", "gmtime_r"], &[(0, Object), (1, Object)]),
    (&["strftime"], &[(2, String), (3, Object)]),
    // Files and the environment.
    (&["stat", "lstat"], &[(0, String), (1, Object)]),
    (&["fstat"], &[(1, Object)]),
    (
        &[
            "open",
            "open64",
            "creat",
            "unlink",
            "remove",
            "mkdir",
            "rmdir",
            "chdir",
            "access",
            "truncate",
            "chmod",
            "opendir",
            "readlink",
            "getenv",
            "secure_getenv",
            "unsetenv",
            "putenv",
            "execl",
            "execlp",
            "execv",
            "execvp",
            "execve",
            "atof",
            "strtod",
            "strtof",
            "strtold",
            "sscanf",
        ],
        &[(0, String)],
    ),
    (&["openat", "fdopen", "freopen", "freopen64", "inet_pton"], &[(1, String)]),
    (&["rename", "fopen", "fopen64", "popen", "setenv"], &[(0, String), (1, String)]),
    // Signals, and what the system knows.
    (&["sigemptyset", "sigfillset", "sigaddset", "sigdelset", "sigismember"], &[(0, Object)]),
    (&["sigwait"], &[(0, Object), (1, Object)]),
    (&["sigprocmask", "pthread_sigmask", "sigaction", "setitimer"], &[(1, ObjectOrNull), (2, ObjectOrNull)]),
    (&["uname", "sysinfo", "rand_r", "wcslen"], &[(0, Object)]),
    (&["getrusage", "getrlimit", "setrlimit", "timer_gettime", "getitimer", "frexp", "modf"], &[(1, Object)]),
    (&["sched_setscheduler"], &[(2, Object)]),
];

/// Whether a pattern of the table stands for a name.
fn stands_for(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => pattern == name,
    }
}

/// Checks the pointers that are passed to a function.
pub(super) fn check(context: &mut Context<'_>, call: &Call<'_>) {
    let name = super::unversioned(call.name).unwrap_or(call.name);
    let rows = TABLE.iter().filter(|(names, _)| names.iter().any(|pattern| stands_for(pattern, name)));
    for &(index, need) in rows.flat_map(|(_, needs)| needs.iter()) {
        if let Some(argument) = call.argument(index) {
            match need {
                Object => context.needs_object(argument, false),
                ObjectOrNull => context.needs_object(argument, true),
                String => context.needs_bytes(argument, 1, false),
            }
        }
    }
}

impl Context<'_> {
    /// Makes it an invalid access that a pointer is not to an object of the type that it says.
    pub(super) fn needs_object(&mut self, argument: &Argument, may_be_null: bool) {
        let size = argument.pointee_size().unwrap_or(1);
        self.needs_bytes(argument, size, may_be_null);
    }

    /// Makes it an invalid access that a pointer is not to so many bytes of a live object.
    pub(super) fn needs_bytes(&mut self, argument: &Argument, size: u64, may_be_null: bool) {
        let is_pointer = argument.pointee.is_some() || argument.is_null;
        if !is_pointer || argument.text.is_some() || may_be_null && argument.is_always_null() {
            return;
        }
        let pointer = self.settle_pointer(argument);
        if self.is_in_static_object(&pointer, size) {
            return;
        }
        let mut is_wrong = Expr::Valid(Box::new(pointer.clone()), size).not();
        if may_be_null && !argument.is_never_null() {
            is_wrong = is_wrong.and(truth(pointer, self.pointer()));
        }
        self.invalid_access_if(is_wrong);
    }

    /// Makes it an invalid access that something holds; control continues in any case.
    pub(super) fn invalid_access_if(&mut self, is_wrong: Expr) {
        self.error_by(ErrorKind::InvalidAccess, Op::Assume(is_wrong));
    }

    /// Makes it an error that an operation is possible; control continues in any case.
    pub(super) fn error_by(&mut self, kind: ErrorKind, op: Op) {
        let error = self.builder.template.location(LocationKind::Error(kind), false);
        self.builder.alternative(op, error);
        let next = self.builder.label();
        self.builder.place(next);
    }

    /// Whether an address is known to have so many bytes of an object that is always there.
    fn is_in_static_object(&self, pointer: &Expr, size: u64) -> bool {
        let Expr::Address(object, at) = pointer else { return false };
        let object = &self.program.objects[*object];
        object.storage == Storage::Static && at.checked_add(size).is_some_and(|end| end <= object.size)
    }
}
