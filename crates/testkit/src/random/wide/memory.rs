//! Topics about memory: types, objects, pointers, the heap.

use super::{NOTHING, Topic};

/// What can be written about.
pub(super) const TOPICS: &[Topic] = &[
    // Unions.
    Topic {
        headers: &["string.h"],
        globals: &[
            "union U { int w; unsigned u; unsigned char b[4]; short h[2];«¦ struct { unsigned lo : 5, hi : 11; } f;¦ signed char c;¦ long long ll;» } u«¦ = { 1 }¦ = { -1 }»;",
        ],
        cells: &[
            ("u.w", "int"),
            ("u.u", "unsigned"),
            ("u.b[0]", "unsigned char"),
            ("u.b[«1¦3¦$i & 3»]", "unsigned char"),
            ("u.h[«0¦1»]", "short"),
        ],
        actions: &[
            "u.b[«$i¦$n¦l0» & 3] = $e;",
            "assert(u.b[0] «==¦!=» (u.w & 255));",
            "memset(&u, $n, «1¦2¦4»);",
            "union U u$k = u;\nassert(u$k.w «==¦<=» u.w);",
            "u = (union U){ $n };",
        ],
        ..NOTHING
    },
    // Bit-fields.
    Topic {
        globals: &[
            "struct B { «unsigned¦int¦signed» a : «1¦3¦7»; «unsigned¦int» b : «2¦4¦9¦31»; «¦unsigned : 0;¦char mid;¦int : 2;» «unsigned¦int¦_Bool» c : 1; «unsigned char d¦short d¦unsigned char d : 3¦int d»; };",
            "struct B b«¦ = { 1, 1 }»;",
            "struct B b1;",
        ],
        cells: &[("b.a", "unsigned"), ("b.b", "unsigned"), ("b.c", "_Bool"), ("b.d", "int")],
        actions: &[
            "b.«a¦b¦d»++;",
            "b.«a¦b¦c» = $e;",
            "b.«a¦b» «+=¦^=¦-=» $n;",
            "b = (struct B){ .a = $n, .b = $n };",
            "b1 = b;",
            "assert(b.«a¦b» «>=¦!=¦<» $n);",
            "struct B b$k = b;\nassert(b$k.b == b$k.b);",
        ],
        ..NOTHING
    },
    // Pointers of other types.
    Topic {
        globals: &[
            "«1:unsigned¦signed char¦unsigned char¦short¦unsigned short¦long¦char» sv«¦ = 1¦ = -1¦ = 200»;",
            "«2:unsigned¦signed char¦unsigned char¦short¦_Bool¦unsigned char» *sp = («2» *)&«sv¦g0»;",
        ],
        cells: &[("sv", "«1»"), ("*sp", "«2»")],
        actions: &[
            "*(«unsigned¦signed char¦unsigned char¦short¦char» *)&«g0¦sv» = $e;",
            "*sp = «$e¦-1¦200»;",
            "sp = («2» *)&«g0¦sv»;",
            "assert(*sp «>=¦!=¦<» «0¦-1¦$o»);",
            "$l = *(«unsigned¦signed char¦unsigned char¦short» *)&«g0¦sv»;",
            "assert((«unsigned¦signed char¦long¦unsigned char»)sv «>=¦==¦!=» $o);",
        ],
        ..NOTHING
    },
    // Walks over whole objects.
    Topic {
        headers: &["string.h"],
        globals: &[
            "struct W { «int a[2]¦int a[1]; int y¦short h[2]¦union { int p; char q[4]; } v¦unsigned f : 4¦char c¦int y»; int z; } w;",
            "int *wp = (int *)&w;",
        ],
        cells: &[("w.z", "int"), ("*wp", "int")],
        actions: &[
            "for (int *j$k = (int *)&w; j$k < (int *)(&w + 1); j$k++) *j$k = $n;",
            "((int *)&w)[«0¦1¦2¦$i¦l0»] = $e;",
            "((unsigned char *)&w)[«0¦4¦7¦$i¦sizeof w - 1»] = $n;",
            "memset(&w, $n, «sizeof w¦4¦8»);",
            "unsigned char *d$k = (unsigned char *)&w;\n*d$k++ = $n;\nd$k += 3;\n*d$k = $n;",
            "wp = (int *)&w;\nwp += «1¦sizeof w / 4 - 1¦l0 & 1»;\n*wp = $e;",
            "wp++;",
            "wp--;",
            "int *j$k = &w.z;\nj$k[«-1¦0¦-2»] = $n;",
            "memcpy(&w, &(struct W){ .z = $n }, sizeof w);",
            "wp = «&w.z¦(int *)&w¦(int *)((char *)&w + 4)»;",
            "w.z = $n;\n((char *)&w)[sizeof w - 4] = $n;\nassert(w.z «==¦!=» $n);",
            "for (unsigned j$k = 0; j$k < sizeof w; j$k += 4) ((char *)&w)[j$k] = $n;",
        ],
        finally: &["assert(w.z «==¦!=¦<=» $n);"],
        ..NOTHING
    },
    // Copies of structures.
    Topic {
        headers: &["string.h"],
        globals: &[
            "struct P { int x; «char¦long long¦int¦short» y; int z; };",
            "struct P p0;",
            "struct P p1 = { 1, 1, 1 };",
        ],
        functions: &[
            "static struct P turned(struct P v) {\nint t = v.x;\nv.x = v.z;\nv.z = t;\nreturn v;\n}",
        ],
        cells: &[("p0.x", "int"), ("p0.z", "int"), ("p1.y", "int")],
        actions: &[
            "p0 = p1;",
            "p1 = (struct P){ $o, $n, $o };",
            "«memcpy¦memmove»(&p0, &p1, sizeof p0);",
            "memcpy(&p0.«x¦z», &p1.«x¦z», 4);",
            "struct P c$k = p0;\nassert(c$k.x == c$k.z);",
            "p0 = turned(p1);",
            "$l = memcmp(&p0.x, &p1.x, 4);",
            "memset(&p«0¦1», «0¦1¦255», sizeof p0);",
            "struct P *s$k = &p«0¦1»;\n*s$k = p1;\ns$k->z = $e;",
        ],
        ..NOTHING
    },
    // Pointers into structures, and back to them.
    Topic {
        headers: &["stddef.h"],
        globals: &[
            "struct L { int pre; int link; } ls[2];",
            "#define HOLDER(member) ((struct L *)((char *)(member) - offsetof(struct L, link)))",
            "int *lp = &ls[«0¦1»].link;",
        ],
        cells: &[("HOLDER(lp)->pre", "int"), ("*lp", "int"), ("ls[«0¦1¦$i & 1»].pre", "int")],
        actions: &[
            "lp = &ls[«0¦1¦$i & 1¦l0 & 1»].link;",
            "lp[«-1¦1¦2¦-2»] = $e;",
            "struct L *h$k = HOLDER(lp);\nh$k->pre = $e;",
            "lp = lp == &ls[0].link ? &ls[1].link : &ls[0].link;",
            "*(&ls[0].pre + «1¦2¦3¦$i») = $n;",
            "$l = HOLDER(lp) - ls;",
            "assert(HOLDER(lp) «==¦!=» &ls[«0¦1»]);",
            "lp += 2;",
        ],
        ..NOTHING
    },
    // Addresses kept as numbers.
    Topic {
        headers: &["stdint.h"],
        globals: &[
            "uintptr_t num«¦ = (uintptr_t)&g0»;",
            "int h0;",
            "int h1;",
            "union { int *p; uintptr_t n; } same;",
        ],
        cells: &[("h0", "int"), ("h1", "int")],
        actions: &[
            "num = (uintptr_t)&«g0¦h0¦h1»«¦ | 1»;",
            "if (num) *(int *)(num & ~(uintptr_t)1) = $e;",
            "num ^= (uintptr_t)&h0 ^ (uintptr_t)&h1;",
            "if (num & 1) $l = *(int *)(num - 1);",
            "same.p = &«h0¦h1»;\nnum = same.n;",
            "same.n = (uintptr_t)&«h0¦h1»;\n*same.p = $e;",
            "long d$k = (long)&h1 - (long)&h0;\n*(int *)((long)&h0 + d$k) = $e;",
            "int *v$k = (int *)(long)(uintptr_t)&«h0¦h1»;\n(*v$k)++;",
            "unsigned char c$k[sizeof(int *)];\nint *o$k = &«h0¦h1», *n$k;\n__builtin_memcpy(c$k, &o$k, sizeof o$k);\n__builtin_memcpy(&n$k, c$k, sizeof o$k);\n*n$k = $n;",
            "assert((num & 2) == 0);",
            "num = (uintptr_t)&h0 < (uintptr_t)&h1;",
        ],
        finally: &["assert(«h0¦h1» «==¦!=¦<=» $n);"],
        ..NOTHING
    },
    // Nodes on the heap.
    Topic {
        headers: &["stdlib.h"],
        globals: &["struct N { int v; struct N *next; };", "struct N *top;"],
        actions: &[
            "struct N *n$k = «malloc(sizeof *n$k)¦calloc(1, sizeof *n$k)»;\nn$k->v = $o;\nn$k->next = top;\ntop = n$k;",
            "struct N *n$k = top;\nif (n$k) {\ntop = n$k->next;\n$l = n$k->v;\nfree(n$k);\n}",
            "struct N *n$k = top;\nif (n$k) {\nn$k->v«++¦ = $n¦ = $e»;\n}",
            "if (top) assert(top->v «>=¦!=¦==» $n);",
            "struct N *o$k = top;\nif (o$k) {\ntop = 0;\nfree(o$k);\nstruct N *f$k = malloc(sizeof *f$k);\nf$k->v = $n;\nf$k->next = 0;\nassert(f$k != o$k);\ntop = f$k;\n}",
            "struct N *e$k = malloc(sizeof *e$k);\ne$k->v = $n;\nfree(e$k);«¦\n$l = e$k->v;¦\nfree(e$k);»",
            "if (top) {\nint *v$k = &top->v;\n*v$k = $e;\n}",
        ],
        finally: &["if (top) free(top);"],
        ..NOTHING
    },
    // Blocks on the heap.
    Topic {
        headers: &["stdlib.h", "string.h"],
        globals: &["int *hp;", "char *hc;"],
        set_up: &["hp = malloc(«2¦1¦3» * sizeof(int));\nhp[0] = $n;", "hc = calloc(«4¦1», 1);"],
        cells: &[("hp[0]", "int"), ("hp[«1¦$i¦l0 & 1»]", "int"), ("hc[«0¦3¦$i»]", "char")],
        actions: &[
            "free(hp);\nhp = malloc(8);\nhp[0] = hp[1] = $n;",
            "hp = realloc(hp, «8¦16¦4»);",
            "free(hp);\nhp = 0;",
            "if (hp) hp[«0¦1»] = $e;",
            "memset(hp, 0, «4¦8»);",
            "*(int *)hc = $n;",
            "hp++;\nhp--;",
            "int *m$k = hp + 1;\nm$k[«-1¦0»] = $n;",
            "free(hp + «0¦0¦1»);\nhp = malloc(8);\nhp[0] = hp[1] = $n;",
            "int *s$k = hp;\nfree(hp);\nhp = malloc(8);\nhp[0] = hp[1] = $n;\nassert(hp != s$k);",
            "int *c$k = hp;\nc$k[«0¦1»]++;",
            "free(hc);\nhc = malloc(4);\nhc[0] = 1;",
        ],
        ..NOTHING
    },
    // Arrays at the end of structures on the heap.
    Topic {
        headers: &["stdlib.h"],
        globals: &["struct V { «int n¦char n¦short n»; int d[]; } *fv;"],
        set_up: &["fv = malloc(sizeof *fv + «2¦1¦3» * sizeof(int));\nfv->n = «2¦1»;\nfv->d[0] = 0;"],
        cells: &[("fv->n", "int"), ("fv->d[«0¦1¦$i¦l0 & 1»]", "int")],
        actions: &[
            "for (int j$k = 0; j$k < fv->n; j$k++) fv->d[j$k] = $n;",
            "int *p$k = fv->d;\np$k[«0¦1¦-1»] = $e;",
            "fv->d[«$i¦$i & 1¦0»]++;",
            "free(fv);\nfv = malloc(sizeof *fv + 4);\nfv->n = 1;\nfv->d[0] = $n;",
            "assert(fv->d[0] «==¦<=» fv->n);",
        ],
        ..NOTHING
    },
    // Addresses of locals that are kept.
    Topic {
        globals: &["int *kept;"],
        actions: &[
            "{\nint b$k = $n;\nkept = &b$k;\nb$k++;\n}",
            "if (kept) $l = *kept;",
            "if (kept) *kept = $e;",
            "for (int j$k = 0; j$k < 2; j$k++) {\nint b$k«¦ = 1»;\nif (j$k == 0) b$k = 1;\nkept = &b$k;\n$l = b$k;\n}",
            "kept = &«l0¦g0»;",
            "kept = 0;",
            "kept = (int[]){ $n, $n };",
            "int v$k[(l0 & 1) + 1];\nv$k[0] = $n;\nv$k[«0¦1¦l0 & 1»] = $n;\nkept = v$k;",
            "int *a$k = __builtin_alloca(8);\na$k[«0¦1¦2»] = $n;\nkept = a$k;",
        ],
        ..NOTHING
    },
    // Strings.
    Topic {
        headers: &["string.h"],
        globals: &["char str[4] = \"ab\";", "const char *lit = \"xy\";"],
        cells: &[("str[0]", "char"), ("str[«1¦2¦$i»]", "char")],
        actions: &[
            "$l = strlen(«str¦lit»);",
            "strcpy(str, «\"a\"¦\"abc\"¦lit¦\"\"¦\"abcd\"»);",
            "$l = strcmp(str, «lit¦\"ab\"¦\"aa\"»);",
            "strncpy(str, lit, «1¦2¦4¦5»);",
            "$l = memcmp(str, lit, «1¦2¦3¦5»);",
            "lit = «str¦\"z\"¦lit + 1»;",
            "((char *)lit)[0] = 'q';",
            "assert(str[0] «==¦!=» 'a');",
            "str[3] = $n;",
        ],
        ..NOTHING
    },
    // Arrays with indices that are not linear.
    Topic {
        globals: &["$t a[4];"],
        cells: &[
            ("a[«$i - $i % 2¦$i & ~1¦$i * $i & 3¦$i / 2¦($i + 1) % 2¦$i ^ 1¦$i % 2¦2 * $i & 3»]", "int"),
            ("a[«$i¦$i + 1¦$i¦3 - $i¦$i & 1»]", "int"),
        ],
        actions: &[
            "a[«$i¦$i & ~1¦$i - $i % 2¦$i * $i & 3¦$i / 2»] = $e;",
            "a[«$i¦$i & 1»]++;",
            "for (int j$k = $i; j$k < 4; j$k += 2) a[j$k] = $n;",
            "int s$k = «$i & ~1¦$i * $i¦$i»;\na[s$k & 3] = $e;",
            "assert(a[«$i¦0¦$i & 1»] «>=¦!=¦<=» $n);",
        ],
        finally: &["assert(a[«0¦1¦2»] «==¦!=¦<=» $n);"],
        ..NOTHING
    },
    // Matrices and structures that hold arrays.
    Topic {
        globals: &["struct M { int r[2]; int t; } mx[2];", "int grid[2][2];"],
        cells: &[
            ("mx[$i & 1].r[«0¦1»]", "int"),
            ("mx[«0¦1»].t", "int"),
            ("grid[$i & 1][«0¦1¦l0 & 1»]", "int"),
            ("grid[0][«2¦1¦$i»]", "int"),
        ],
        actions: &[
            "mx[$i & 1].r[«0¦1¦2¦l0»] = $e;",
            "int *g$k = &grid[«0¦$i & 1»][0];\ng$k[«0¦1¦2¦3»] = $e;",
            "struct M *m$k = &mx[$i & 1];\nm$k->t = m$k->r[«0¦1»];",
            "mx[0] = mx[1];",
            "int (*r$k)[2] = &grid[«0¦1»];\n(*r$k)[$i & 1] = $n;",
        ],
        ..NOTHING
    },
];
