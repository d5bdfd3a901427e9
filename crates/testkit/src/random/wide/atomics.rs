//! Topics about atomic operations, regions and functions.

use super::{NOTHING, Topic};

/// What can be written about.
pub(super) const TOPICS: &[Topic] = &[
    // C11's operations.
    Topic {
        headers: &["stdatomic.h"],
        globals: &[
            "_Atomic «1:int¦unsigned¦unsigned char¦short¦long¦signed char¦_Bool¦int» x0«¦ = 1»;",
            "atomic_int x1;",
        ],
        cells: &[("x0", "«1»"), ("x1", "int")],
        actions: &[
            "$l = atomic_fetch_«add¦sub¦or¦xor¦and»(&x1, «1¦$o»);",
            "$l = atomic_exchange(&«x0¦x1», $o);",
            "«1» e$k = $n;\n$l = atomic_compare_exchange_«strong¦weak»(&x0, &e$k, $o);",
            "int e$k = x1;\nwhile (!atomic_compare_exchange_«strong¦weak»(&x1, &e$k, e$k + 1)) ;",
            "int e$k = 0;\nif (atomic_compare_exchange_strong(&x1, &e$k, 1)) {\n$b\n}",
            "atomic_store(&«x0¦x1», $e);",
            "$l = atomic_load(&«x0¦x1»);",
            "x«0¦1» «+=¦-=¦|=» «1¦$o»;",
            "x«0¦1»++;",
            "!while (x1 == «0¦1») ;",
            "assert(x«0¦1» «>=¦!=¦<=» $n);",
            "atomic_init(&x1, $n);",
        ],
        finally: &["assert(x«0¦1» «>=¦!=¦<=» $n);"],
        ..NOTHING
    },
    // Flags that guard data.
    Topic {
        headers: &["stdatomic.h"],
        globals: &["atomic_int flag;", "int data;"],
        cells: &[("data", "int")],
        actions: &[
            "data = $e;\natomic_store«(&flag, 1)¦_explicit(&flag, 1, memory_order_release)¦_explicit(&flag, 1, memory_order_relaxed)»;",
            "if (atomic_load«(&flag)¦_explicit(&flag, memory_order_acquire)¦_explicit(&flag, memory_order_relaxed)») {\n$l = data;\n}",
            "!while (!atomic_load(&flag)) ;\n$l = data;",
            "if (atomic_exchange(&flag, 1) == 0) {\ndata++;\n}",
            "atomic_fetch_add_explicit(&flag, 1, memory_order_«relaxed¦acq_rel¦seq_cst»);",
            "flag = 0;",
        ],
        ..NOTHING
    },
    // Locks made by hand.
    Topic {
        headers: &["stdatomic.h"],
        globals: &["atomic_flag taken = ATOMIC_FLAG_INIT;", "atomic_int owner;"],
        actions: &[
            "!>while (atomic_flag_test_and_set(&taken)) ;\n$b\n<atomic_flag_clear(&taken);",
            "!int z$k = 0;\n>while (!atomic_compare_exchange_strong(&owner, &z$k, 1)) z$k = 0;\n$b\n<owner = 0;",
            "!int z$k = 0;\n>while (!atomic_compare_exchange_weak(&owner, &z$k, 1)) «z$k = 0¦»;\n$b\n<atomic_store(&owner, 0);",
            "!if (!atomic_flag_test_and_set(&taken)) {\n$b\n«¦atomic_flag_clear(&taken);»\n}",
        ],
        ..NOTHING
    },
    // Peterson's lock.
    Topic {
        headers: &["stdatomic.h"],
        globals: &["«_Atomic¦_Atomic¦volatile» int want[2], turn;"],
        actions: &[
            "!want[$i & 1] = 1;\nturn = ($i & 1) ^ 1;\n>while (want[($i & 1) ^ 1] && turn == (($i & 1) ^ 1)) ;\n$b\n<want[$i & 1] = 0;",
            "!turn = $i & 1;\nwant[$i & 1] = 1;\n>while (want[($i & 1) ^ 1] && turn == ($i & 1)) ;\n$b\n<want[$i & 1] = 0;",
        ],
        ..NOTHING
    },
    // The compiler's operations on plain variables.
    Topic {
        globals: &["«1:int¦unsigned¦unsigned char¦long¦short» y0«¦ = 1»;"],
        cells: &[("y0", "«1»")],
        actions: &[
            "$l = __atomic_«fetch_add¦add_fetch¦fetch_sub¦sub_fetch¦fetch_or¦xor_fetch¦fetch_and»(&y0, «1¦$o», __ATOMIC_SEQ_CST);",
            "$l = __atomic_load_n(&y0, __ATOMIC_SEQ_CST);",
            "__atomic_store_n(&y0, $e, __ATOMIC_SEQ_CST);",
            "$l = __sync_bool_compare_and_swap(&y0, $n, $o);",
            "$l = __sync_val_compare_and_swap(&y0, $n, $o);",
            "$l = __sync_«fetch_and_add¦add_and_fetch¦fetch_and_sub¦or_and_fetch»(&y0, «1¦$o»);",
            "$l = __atomic_exchange_n(&y0, $o, __ATOMIC_SEQ_CST);",
            "«1» e$k = $n;\n$l = __atomic_compare_exchange_n(&y0, &e$k, $o, «0¦1», __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);",
            "__sync_synchronize();",
            "!while (__sync_lock_test_and_set(&y0, 1)) ;\n$b\n__sync_lock_release(&y0);",
        ],
        ..NOTHING
    },
    // Functions that are atomic.
    Topic {
        globals: &["int held;"],
        functions: &[
            "void __VERIFIER_atomic_step(void) {\n$b\n«¦if ($q) return;»\n$b\n}",
            "int __VERIFIER_atomic_take(int v) {\n«__VERIFIER_assume(held == 0);¦if (held) return 0;¦»\nheld = v;\nreturn 1;\n}",
            "void __VERIFIER_atomic_end_it(void) {\n«$b¦»\nif («held¦$q») «pthread_exit(0)¦__VERIFIER_assume(0)¦return»;\nheld = 0;\n}",
        ],
        cells: &[("held", "int")],
        actions: &[
            "!__VERIFIER_atomic_step();",
            "!$l = __VERIFIER_atomic_take(1);",
            "!__VERIFIER_atomic_take(1);\n$b\nheld = 0;",
            "!__VERIFIER_atomic_end_it();",
        ],
        ..NOTHING
    },
    // Regions that are atomic.
    Topic {
        actions: &[
            "!>__VERIFIER_atomic_begin();\n$b\n<__VERIFIER_atomic_end();",
            "!>__VERIFIER_atomic_begin();\n$l = $c;\n$c = $l + 1;\n<__VERIFIER_atomic_end();\nassert($q);",
            "!__VERIFIER_atomic_begin();\nif ($q) {\n__VERIFIER_atomic_end();\nreturn 0;\n}\n$b\n__VERIFIER_atomic_end();",
            "!>__VERIFIER_atomic_begin();\n__VERIFIER_assume($q);\n$b\n<__VERIFIER_atomic_end();",
            "!>__VERIFIER_atomic_begin();\nfor (int j$k = 0; j$k < 2; j$k++) {\n$c = $e;\n}\n<__VERIFIER_atomic_end();",
            "!>__VERIFIER_atomic_begin();\n__VERIFIER_atomic_end();\n$b\n<__VERIFIER_atomic_begin(); __VERIFIER_atomic_end();",
        ],
        ..NOTHING
    },
    // Atomic structures and pointers.
    Topic {
        headers: &["stdatomic.h", "stdlib.h"],
        globals: &[
            "struct Q { short lo, hi; };",
            "_Atomic struct Q q;",
            "int c0;",
            "int c1[2];",
            "_Atomic(int *) ap = &c0;",
        ],
        cells: &[("*ap", "int"), ("c0", "int"), ("c1[«0¦1»]", "int")],
        actions: &[
            "q = (struct Q){ $n, $n };",
            "struct Q s$k = q;\nassert(s$k.lo «==¦<=» s$k.hi);",
            "struct Q s$k = atomic_load(&q);\ns$k.lo++;\ns$k.hi++;\natomic_store(&q, s$k);",
            "struct Q o$k = q, n$k = { 1, 1 };\n$l = atomic_compare_exchange_strong(&q, &o$k, n$k);",
            "ap = &c1[«0¦1¦$i & 1»];",
            "int *v$k = atomic_fetch_add(&ap, «0¦1»);\n*v$k = $n;",
            "int *v$k = atomic_exchange(&ap, «&c0¦c1»);\n(*v$k)++;",
            "ap++;",
            "int *e$k = &c0;\n$l = atomic_compare_exchange_strong(&ap, &e$k, c1);",
        ],
        ..NOTHING
    },
    // A stack without locks.
    Topic {
        headers: &["stdatomic.h", "stdlib.h"],
        globals: &["struct F { int v; struct F *next; };", "_Atomic(struct F *) head;", "struct F pool[2];"],
        actions: &[
            "struct F *n$k = «malloc(sizeof *n$k)¦&pool[$i & 1]»;\nn$k->v = $n;\nn$k->next = head;\nwhile (!atomic_compare_exchange_strong(&head, &n$k->next, n$k)) ;",
            "struct F *t$k = head;\nwhile (t$k && !atomic_compare_exchange_strong(&head, &t$k, t$k->next)) ;\nif (t$k) {\n$l = t$k->v;\n«¦free(t$k);»\n}",
            "struct F *t$k = atomic_exchange(&head, 0);\nif (t$k) t$k->v++;",
            "struct F *t$k = head;\nif (t$k) assert(t$k->v «>=¦<=» $n);",
        ],
        ..NOTHING
    },
    // Memory orders.
    Topic {
        headers: &["stdatomic.h"],
        globals: &["atomic_int o0, o1;", "int plain;"],
        cells: &[("plain", "int")],
        actions: &[
            "atomic_store_explicit(&«o0¦o1», $n, memory_order_«relaxed¦release¦seq_cst»);",
            "$l = atomic_load_explicit(&«o0¦o1», memory_order_«relaxed¦consume¦acquire¦seq_cst»);",
            "$l = atomic_exchange_explicit(&o0, $n, memory_order_«relaxed¦acquire¦release¦acq_rel¦seq_cst»);",
            "atomic_fetch_«add¦sub¦or»_explicit(&«o0¦o1», 1, memory_order_«relaxed¦consume¦acquire¦release¦acq_rel¦seq_cst»);",
            "int e$k = $n;\n$l = atomic_compare_exchange_«strong¦weak»_explicit(&o0, &e$k, $n, memory_order_«relaxed, memory_order_relaxed¦acq_rel, memory_order_acquire¦release, memory_order_relaxed¦seq_cst, memory_order_seq_cst»);",
            "atomic_thread_fence(memory_order_«acquire¦release¦acq_rel¦seq_cst¦relaxed»);",
            "plain = $n;\natomic_thread_fence(memory_order_release);\natomic_store_explicit(&o0, 1, memory_order_relaxed);",
            "if (atomic_load_explicit(&o0, memory_order_relaxed)) {\natomic_thread_fence(memory_order_«acquire¦acquire¦relaxed»);\n$l = plain;\n}",
            "atomic_store_explicit(&o«0¦1», 1, memory_order_«relaxed¦seq_cst¦release»);\n$l = atomic_load_explicit(&o«1¦0», memory_order_«relaxed¦seq_cst¦acquire»);",
            "assert(o«0¦1» «>=¦!=¦<=» $n);",
            "__atomic_store_n(&plain, $n, __ATOMIC_«RELAXED¦RELEASE¦SEQ_CST»);",
            "$l = __atomic_load_n(&plain, __ATOMIC_«RELAXED¦ACQUIRE¦CONSUME¦SEQ_CST»);",
            "$l = __atomic_fetch_«add¦or»(&plain, 1, __ATOMIC_«RELAXED¦ACQ_REL¦SEQ_CST»);",
        ],
        ..NOTHING
    },
];
