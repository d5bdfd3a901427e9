//! Objects: structures, unions, bit-fields, arrays, pointers, initialisers.

use crate::{check, program, runner};
use ir::{Initial, IntType, Storage};

#[test]
fn bit_fields() {
    check(
        "struct b { unsigned a:3; signed b:5; unsigned c:20; char d; unsigned e:1; _Bool f:1; int :0; unsigned g:7;
                    unsigned long long h:40; long long i:33; };
        struct b s = { 5, -7, 0xabcde, 'q', 1, 1, 99, 0xfedcba9876ULL, -5 };
        struct b change(struct b x, int k) { x.a += k; x.b -= k; x.h++; return x; }
        int main(void) {
            expect(s.a == 5); expect(s.b == -7); expect(s.c == 0xabcde); expect(s.d == 'q'); expect(s.f); expect(s.g == 99);
            expect(s.h == 0xfedcba9876ULL); expect(s.i == -5);
            struct b l = change(s, 6); expect(l.a == 3); expect(l.b == -13); expect(l.h == 0xfedcba9877ULL); expect(s.a == 5);
            expect(l.i-- == -5); expect(l.i == -6); expect((l.b += 29) == -16); expect((l.g = 300) == 44);
            l.h = -1; expect(l.h + 1 == 0); expect((l.i = 1LL << 32) < 0); expect(l.d == 'q' && l.e == 1);
        }",
    );
}

#[test]
fn packed_bit_fields_leave_their_neighbours_alone() {
    check(
        "struct p { char a; int b:17; unsigned char c; } __attribute__((packed)) g = { 1, -100, 200 };
        int main(void) {
            expect(sizeof g == 5); expect(g.b == -100); g.b = 54321; expect(g.b == 54321); expect(g.a == 1 && g.c == 200);
            struct p l = { .b = -1, .c = 7 }; expect(l.b == -1); expect(l.a == 0 && l.c == 7);
        }",
    );
}

#[test]
fn unions_share_their_bytes() {
    check(
        "union u { int i; unsigned char b[4]; short s[2]; struct { unsigned lo:12, hi:20; } f; };
        int main(void) {
            union u u = { .i = 0x12345678 }; expect(u.b[0] == 0x78); expect(u.s[1] == 0x1234); expect(u.f.lo == 0x678);
            u.f.lo = 0xfff; expect(u.i == 0x12345fff); u.b[3] = 0xff; expect(u.i < 0);
        }",
    );
}

#[test]
fn structures_by_value() {
    check(
        "struct big { int a[20]; struct { short x; char y[3]; } in[2]; } g = { .a = { [3] = 3, [5 ... 9] = 7, 1 }, .in[1] = { .y = \"ab\" } };
        struct small { int x, y; };
        struct big twist(struct big b) { b.a[0] = 99; b.in[0].x = -3; return b; }
        struct small swap(struct small s) { return (struct small){ s.y, s.x }; }
        int main(void) {
            struct big b = twist(g); expect(b.a[0] == 99 && b.a[7] == 7 && b.a[10] == 1 && b.in[1].y[1] == 'b'); expect(g.a[0] == 0);
            expect(twist(b).a[0] + twist(b).in[0].x == 96); b = g; expect(b.a[0] == 0);
            struct small s = { 1, 2 }, t; t = swap(s); expect(t.x == 2 && t.y == 1); expect(swap(swap(t)).x == 2);
            struct small *p = &t; *p = (s.x ? s : *p); expect(t.x == 1);
        }",
    );
}

#[test]
fn pointers_and_arrays() {
    check(
        "int g2[2][3] = { {1,2,3}, {4,5,6} }; int *mid = &g2[1][1]; int (*rows)[3] = g2;
        const char *names[] = { \"alpha\", \"beta\", 0 };
        int main(void) {
            expect(*mid + mid[-2] == 8); expect(mid - &g2[0][0] == 4); expect(rows[1][0] + (*rows)[2] == 7);
            expect((char *)(rows + 1) - (char *)rows == 12); expect(names[1][2] == 't' && !names[2]); expect(2[*rows] == 3);
            int a[4] = { 1 }; int *p = a; *p++ = 4; *++p = 6; expect(a[0] == 4 && a[1] == 0 && a[2] == 6); expect(p > a && p - a == 2);
            p[-1] += p[0]--; expect(a[1] == 6 && a[2] == 5); void *v = a; expect((char *)(v + 4) - (char *)a == 4 && v == &a[0]);
            char s1[8] = \"ab\", s3[3] = \"xyz\"; expect(s1[2] == 0 && s1[7] == 0 && s3[2] == 'z'); expect(\"abc\"[1] == 'b');
        }",
    );
}

#[test]
fn variable_length_arrays() {
    check(
        "int sum(int n, int m, int a[n][m]) { int s = 0; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) s += a[i][j]; return s + (int)sizeof(a[0]); }
        int main(void) {
            int n = 3, v[n][n + 1]; for (int i = 0; i < n; i++) for (int j = 0; j <= n; j++) v[i][j] = i * j;
            n = 10; expect(sizeof v == 48); expect(sizeof v[0] == 16); expect(sum(3, 4, v) == 18 + 16);
            typedef int row[n]; n = 2; row r; r[9] = 1; expect(sizeof r == 40);
        }",
    );
}

#[test]
fn literals_and_flexible_members() {
    check(
        "struct flex { int n; int data[]; } f = { 3, { 10, 20, 30 } };
        int main(void) {
            expect(f.n + f.data[2] == 33);
            int s = 0; for (int i = 0; i < 3; i++) { int *q = (int[2]){ i }; q[1] += i + 1; s = s * 10 + q[0] + q[1]; } expect(s == 135);
            struct { struct { int a:4, b:4; } q[3]; int z; } n = { { {1,2}, {3}, {.b = -2} }, 8 };
            expect(n.q[0].b == 2 && n.q[1].b == 0 && n.q[2].b == -2 && n.z == 8);
        }",
    );
}

#[test]
fn static_and_thread_local_variables() {
    check(
        "static _Thread_local int t = 4;
        int counter(void) { static int n = 5; static struct { int q, r; } s = { 1, 2 }; s.q++; return n++ + s.q * 10; }
        int main(void) { expect(counter() == 25); expect(counter() == 36); expect(t++ == 4); expect(t == 5); }",
    );
    let program = program("_Thread_local int t; int main(void) { static int s; return t + s; }");
    let storage = |name: &str| program.objects.iter().find(|object| object.name == name).map(|o| o.storage);
    assert_eq!(storage("t"), Some(Storage::ThreadLocal));
    assert_eq!(storage("main.s"), Some(Storage::Static));
}

#[test]
fn floats_keep_their_bits() {
    check(
        "float f = 2.5f; double d = 1.5 / 3;
        int main(void) {
            float g = f; union { float f; unsigned u; } a = { g }; expect(a.u == 0x40200000);
            union { double d; unsigned long long u; } b = { d }; expect(b.u == 0x3fe0000000000000); b.d = 7; expect(b.u >> 48 == 0x401c);
        }",
    );
    let program = program("int result; int main(void) { float f = 1; if (f + 1 > 1) result = 1; return 0; }");
    assert!(!runner::run(&program, 1000).unknown);
}

#[test]
fn what_is_not_initialised_is_open() {
    let program =
        program("int g; extern int e; int main(void) { int x; int *p = &x; int y; g = y; return *p + e; }");
    let initial = |name: &str| &program.objects.iter().find(|object| object.name == name).unwrap().initial;
    assert_eq!(initial("g"), &Initial::Values(vec![]));
    assert_eq!(initial("x"), &Initial::Unknown);
    assert_eq!(initial("e"), &Initial::Unknown);
    assert!(program.assumptions.iter().any(|assumption| assumption.text.contains("'e' is not defined")));
    assert!(!program.objects.iter().any(|object| object.name == "y"), "a local of its own");
}

#[test]
fn huge_arrays_cost_nothing_to_read() {
    let program = program("static char big[2000000000]; int main(void) { big[5] = 1; return 0; }");
    assert_eq!(program.objects.iter().next().map(|object| object.size), Some(2_000_000_000));
    let machine = ir::semantics::Machine::new(&program).expect("it fits");
    assert!(machine.initial(&[1]).expect("it fits").statics.held() < 1 << 20);
}

#[test]
fn address_constants() {
    let program = program(
        "int a[4]; int f(void); int *p = &a[2]; long n = (long)&a[1] + 4; int (*q)(void) = f; int f(void) { return 0; }
        int z = &((struct { int c; } *)0)->c == 0;
        int main(void) { return *p + q() + (n != 0) + z; }",
    );
    let run = runner::run(&program, 100);
    assert_eq!(run.ended, runner::Ended::Finished);
    assert_eq!(run.global("z", IntType::I32), Some(1));
    let at = |name| run.global(name, IntType::I64).unwrap();
    assert_eq!(at("p"), at("n"));
}
