//! Topics about the language: calls, values without a model, undefined behaviour, jumps.

use super::{NOTHING, Topic};

/// What can be written about.
pub(super) const TOPICS: &[Topic] = &[
    // The order in which operands are evaluated.
    Topic {
        globals: &["int ord«¦ = 1»;"],
        functions: &[
            "static int bump(void) {\nreturn ++ord;\n}",
            "static int twice(int v) {\nord = ord * 2;\nreturn v;\n}",
            "static int two(int a, int b) {\nreturn a - b;\n}",
        ],
        cells: &[("ord", "int")],
        actions: &[
            "$l = bump() - bump();",
            "assert(bump() «<¦>¦!=» bump());",
            "$l = two(bump(), «bump()¦twice(1)¦$o»);",
            "$l = twice(1) + bump() * 2;",
            "int a$k[2] = { bump(), bump() };\nassert(a$k[0] «<¦>» a$k[1]);",
            "$l = bump() && bump();\nassert(ord «>=¦!=» $n);",
            "$l = (bump(), ord);",
            "ord = bump() + «ord¦1»;",
        ],
        ..NOTHING
    },
    // What runs before `main`, and what may be missing.
    Topic {
        globals: &[
            "int early = «0¦1»;",
            "extern int maybe(int) __attribute__((weak));",
            "__attribute__((weak)) int spare = 2;",
        ],
        functions: &[
            "__attribute__((constructor(«200¦300»))) static void first(void) {\nearly = early * 2 + 1;\n}",
            "__attribute__((constructor«(250)¦»)) static void second(void) {\nearly = early «+ 3¦* 2»;\n}",
            "__attribute__((destructor)) static void last(void) {\nassert(early != «9¦0¦3»);\n}",
        ],
        cells: &[("early", "int"), ("spare", "int")],
        actions: &[
            "assert(early «==¦!=» «5¦4¦3¦8¦10¦$n»);",
            "if (maybe) {\n$l = maybe($o);\n}",
            "$l = spare;\nassert(spare «==¦>=» 2);",
        ],
        ..NOTHING
    },
    // Floating-point values.
    Topic {
        globals: &["«double¦float» fl«¦ = 1.5¦ = 1»;"],
        actions: &[
            "fl = $o;",
            "if (fl > «0.5¦1¦0») {\n$b\n}",
            "$l = (int)fl;",
            "fl += 1;",
            "assert(fl «>=¦!=» 0);",
            "«double¦float» d$k = fl;\nfl = d$k;",
        ],
        ..NOTHING
    },
    // Functions that nobody knows.
    Topic {
        globals: &["extern int mystery(int);", "extern void outside(void);", "static int own;"],
        cells: &[("own", "int")],
        actions: &[
            "$l = mystery($o);",
            "if (mystery(1)) {\n$b\n}",
            "outside();",
            "own = $n;\noutside();\nassert(own == $n);",
        ],
        ..NOTHING
    },
    // Function pointers.
    Topic {
        globals: &[
            "static int up(int), down(int);",
            "int (*fp)(int) = «up¦down¦0»;",
            "int (*const table[2])(int) = { up, down };",
        ],
        functions: &[
            "static int up(int v) {\n$b\nreturn v + 1;\n}",
            "static int down(int v) {\nreturn v - 1;\n}",
        ],
        actions: &[
            "fp = «up¦down¦up¦0»;",
            "$l = fp ? fp($o) : 0;",
            "$l = table[«$i & 1¦0¦l0 & 1»]($o);",
            "$l = fp($n);",
            "assert(fp «==¦!=» up);",
        ],
        ..NOTHING
    },
    // Recursion.
    Topic {
        functions: &["static int deep(int n) {\nif (n <= 0) return 0;\n$b\nreturn deep(n - «1¦2») + 1;\n}"],
        actions: &["!$l = deep(«1¦2¦l0 & 1»);", "!assert(deep(«1¦2») «==¦<=» $n);", "!deep(1);"],
        ..NOTHING
    },
    // Variables without a value.
    Topic {
        actions: &[
            "_Bool n$k;\nif ($q) n$k = 1;\n$l = n$k;",
            "unsigned char n$k;\nif (l0) n$k = 3;\nassert(n$k «!=¦<=» $n);",
            "_Bool n$k[2];\nn$k[0] = 1;\n$c = n$k[«0¦1»];",
            "int n$k;\nint *p$k = &n$k;\nif ($q) *p$k = 1;\n$l = *p$k;",
            "struct { _Bool a, b; } n$k;\nn$k.a = 1;\nif (n$k.«a¦b») {\n$b\n}",
        ],
        ..NOTHING
    },
    // Values that are thrown away.
    Topic {
        headers: &["stdio.h"],
        globals: &["int big = «2147483647¦2147483646¦1¦-2147483647»;"],
        cells: &[("big", "int")],
        actions: &[
            "(void)(big + «1¦$o»);",
            "printf(\"%d\", big «+¦-» «1¦2¦$o»);",
            "big++;",
            "$l = big «+¦*¦-» «1¦2¦$o»;",
            "$l = -big;",
            "$l = $c << «1¦31¦$n»;",
            "short s$k = big;\ns$k++;",
            "signed char s$k = 127;\ns$k += $n;\nassert(s$k «<¦>» 0);",
            "unsigned u$k = big;\nu$k += 2;\nassert(u$k > 1);",
            "big «+=¦-=¦*=» $n;",
            "if (big < 2147483647) big++;",
            "long w$k = big + «1l¦1»;",
            "$l = 10 / $c;",
            "$l = big % $o;",
        ],
        ..NOTHING
    },
    // Jumps.
    Topic {
        actions: &[
            "if ($q) goto out$k;\n{\n$b\n}\nout$k: ;",
            "int n$k = 0;\nagain$k: ;\n$b\nif (n$k++ < 1 && $q) goto again$k;",
            "switch («$o & 3¦$l») {\ncase 0: {\n$b\n}\n«break;¦»\ncase 1: {\n$b\n}\n«default: l0++;¦case 2: l0 = 1; break;¦»\n}",
            "for (int j$k = 0; j$k < 2; j$k++) {\nif ($q) «break¦continue»;\n$b\n}",
            "int n$k = 2;\ndo {\n$b\n} while (--n$k > 0 && $q);",
            "!if ($q) return 0;",
        ],
        ..NOTHING
    },
    // Storage.
    Topic {
        globals: &["static _Thread_local int tl«¦ = 1»;", "static volatile int vo;", "const int ten = 10;"],
        functions: &["static int counted(void) {\nstatic int n;\nreturn ++n;\n}"],
        cells: &[("tl", "int"), ("vo", "int")],
        actions: &[
            "$l = counted();",
            "tl++;\nassert(tl «<=¦==¦>=» «1¦2¦3»);",
            "int *p$k = &tl;\n(*p$k)++;",
            "vo = vo + 1;",
            "$l = (tl++, vo);",
            "*(int *)&ten = $n;",
            "$l = ten;\nassert($l «==¦<=» 10);",
            "assert(({ int s$k = $o; s$k; }) «>=¦!=» $n);",
            "int s$k = $q ? $o : $o;\n$c = s$k;",
        ],
        ..NOTHING
    },
    // Arguments that point to the variables of others.
    Topic {
        globals: &["struct J { int in; int out; };"],
        functions: &[
            "static void *job(void *argument) {\nstruct J *j = argument;\nj->out = j->in + 1;\n«¦g0 = j->out;¦pthread_mutex_lock(&m0);\ng0++;\npthread_mutex_unlock(&m0);»\nreturn «0¦j¦(void *)(long)j->in»;\n}",
        ],
        actions: &[
            "!struct J j$k = { $n, 0 };\npthread_t t$k;\npthread_create(&t$k, 0, job, &j$k);\n«j$k.in++;¦¦»\npthread_join(t$k, 0);\nassert(j$k.out «==¦!=» «j$k.in + 1¦$n»);",
            "!struct J j$k = { 1, 0 };\npthread_t t$k;\npthread_create(&t$k, 0, job, &j$k);\n$l = j$k.«in¦out»;\npthread_join(t$k, 0);",
            "!struct J j$k = { 1, 0 };\npthread_t t$k;\nvoid *r$k;\npthread_create(&t$k, 0, job, &j$k);\npthread_join(t$k, &r$k);\nassert((long)r$k «!=¦>=» 0);",
        ],
        ..NOTHING
    },
    // Comparisons and conversions of mixed types.
    Topic {
        globals: &["«1:$t» ta«¦ = 1¦ = -1»;", "«2:$t» tb«¦ = 1¦ = 100»;"],
        cells: &[("ta", "«1»"), ("tb", "«2»")],
        actions: &[
            "assert(ta «<¦==¦>=¦<=» tb);",
            "ta = tb;",
            "tb = ($t)ta;",
            "ta = ta «+¦-¦*¦/¦%¦&¦|¦^¦>>» «1¦3¦tb¦2»;",
            "$l = (ta > «-1¦0¦tb»);",
            "ta = ~ta;",
            "tb = -tb;",
            "tb = ta ? ta : $o;",
            "assert(($t)(ta «+¦-» 1) «!=¦==» ($t)tb);",
            "ta = sizeof(ta) > sizeof(tb);",
            "ta «+=¦-=¦>>=¦|=» «1¦2¦tb & 3»;",
        ],
        ..NOTHING
    },
    // Values without a model, on some branch.
    Topic {
        headers: &["stdlib.h"],
        globals: &["long double ld«¦ = 1»;", "extern int unseen(void);", "int un;"],
        cells: &[("un", "int")],
        actions: &[
            "if ($q) {\nld = ld * 2;\nun = (int)ld;\n}",
            "if ($q) un = rand();",
            "if (rand() & 1) {\n$b\n}",
            "if ($q) {\nun = unseen();\n}\nelse {\nun = $n;\n}",
            "un = ld > 0;",
            "un = $n;\nassert(un «==¦!=» $n);",
            "int v$k = $q ? rand() : $n;\nun = v$k & 1;",
        ],
        ..NOTHING
    },
];
