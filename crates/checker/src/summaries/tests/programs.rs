//! Whole programs: those without races are accepted, their broken twins are not.

use super::builder::{Builder, read, verdict};

const HEAD: &str = "#include <pthread.h>\n#include <stdlib.h>\n#include <string.h>\nextern int __VERIFIER_nondet_int(void);\n";

fn accepts(name: &str, text: &str) {
    let program = read(&format!("{HEAD}{text}"));
    let proof = Builder::strongest(&program);
    if let Err(error) = verdict(&program, &proof) {
        panic!("{name}: {error}\n{}", ir::text::print(&program));
    }
}

fn refuses(name: &str, text: &str) {
    let program = read(&format!("{HEAD}{text}"));
    let proof = Builder::strongest(&program);
    let error = verdict(&program, &proof).err().unwrap_or_else(|| panic!("{name} is accepted"));
    assert!(error.to_string().contains("may race"), "{name}: {error}");
}

#[test]
fn locks_of_static_objects() {
    let text = |worker: &str| {
        format!(
            "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER; int g;
            void *worker(void *a) {{ {worker} return 0; }}
            int main(void) {{ pthread_t t; pthread_create(&t, 0, worker, 0);
              pthread_mutex_lock(&m); g = 1; pthread_mutex_unlock(&m); return 0; }}"
        )
    };
    accepts("locked", &text("pthread_mutex_lock(&m); g++; pthread_mutex_unlock(&m);"));
    refuses("unlocked", &text("g++;"));
    refuses("other lock", &text("pthread_mutex_lock(&n); g++; pthread_mutex_unlock(&n);"));
    refuses("too late", &text("pthread_mutex_lock(&m); pthread_mutex_unlock(&m); g++;"));
    refuses(
        "unlocked twice",
        &text("pthread_mutex_unlock(&m); pthread_mutex_lock(&m); g++; pthread_mutex_unlock(&m);"),
    );
    refuses(
        "memset",
        &text("memset(&m, 0, sizeof m); pthread_mutex_lock(&m); g++; pthread_mutex_unlock(&m);"),
    );
    refuses(
        "init",
        &text("pthread_mutex_init(&m, 0); pthread_mutex_lock(&m); g++; pthread_mutex_unlock(&m);"),
    );
}
