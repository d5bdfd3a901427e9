//! Integers: promotions, conversions, wrap, shifts, increments.

use crate::{check, check_in};
use ir::DataModel;

#[test]
fn narrow_types_wrap_on_conversion() {
    check(
        "int main(void) {
            signed char s = 127; s++; expect(s == -128);
            unsigned char u = 0; u--; expect(u == 255);
            short h = -32768; h--; expect(h == 32767);
            s = 100; s += 100; expect(s == -56); s *= 2; expect(s == -112);
            u >>= 3; expect(u == 31); u <<= 4; expect(u == 240);
            expect((unsigned char)300 == 44); expect((signed char)200 == -56); expect((short)0x18000 == -32768);
            char c = '\\xff'; expect(c == -1);
        }",
    );
}

#[test]
fn mixed_signs_follow_the_usual_conversions() {
    check(
        "int main(void) {
            unsigned one = 1; long long minus = -1;
            expect(one - 2 > 0); expect(!(-1 < one)); expect(minus < one);
            expect((1 ? 1u : -1) > 0); expect((0 ? 1u : -1) == 4294967295u);
            expect(sizeof(1 ? (char)1 : (short)1) == sizeof(int));
            expect((unsigned short)65535 * 2 == 131070); expect(7u / 2 * -1 == 4294967293u);
        }",
    );
}

#[test]
fn long_has_the_width_of_the_data_model() {
    let text = |size: u32, negative: u32| {
        format!(
            "int main(void) {{
                expect(sizeof(long) == {size}); expect(sizeof(void *) == {size});
                unsigned one = 1; expect(((long)-1 < (long)one) == 1); expect(((long)-1 < one) == {negative});
            }}"
        )
    };
    check_in(&text(4, 0), DataModel::Ilp32);
    check_in(&text(8, 1), DataModel::Lp64);
}

#[test]
fn division_and_shifts() {
    check(
        "int main(void) {
            int seven = 7;
            expect(-seven / 2 == -3); expect(-seven % 3 == -1); expect(-seven >> 1 == -4);
            expect(~0u >> 4 == 0x0fffffff); expect(1ULL << 40 == 1099511627776);
            unsigned long long big = -1; expect(big / 3 == 6148914691236517205u); expect(big % 10 == 5);
            expect((long long)big / 3 == 0); expect((unsigned)(big >> 32) * 3u == 4294967293u);
        }",
    );
}

#[test]
fn booleans() {
    check(
        "int main(void) {
            _Bool b = 0; b--; expect(b == 1); b++; expect(b == 1); b--; expect(b == 0);
            b += 5; expect(b == 1); b = 256; expect(b == 1); expect((b = 4) + 1 == 2);
            expect(!5 + !0 + !!7 == 2);
        }",
    );
}

#[test]
fn enumerations() {
    check(
        "enum s { A = -1, B, C = 7 }; enum u { D, E = 5 };
        int main(void) { enum u e = D; e -= 1; expect(e > 0); expect(A < 0); expect(C - B == 7); }",
    );
}

#[test]
fn operands_are_evaluated_once() {
    check(
        "int log; int f(int v) { log = log * 10 + v; return v; }
        int main(void) {
            expect((f(3) ?: f(4)) == 3); expect((f(0) ?: f(4)) == 4); expect(log == 304); log = 0;
            expect((f(1) && f(0) || f(2)) == 1); expect(log == 102); log = 0;
            expect((f(1), f(2)) + 3 == 5); expect(log == 12); log = 0;
            int a[] = { [0 ... 3] = f(7) }; expect(a[3] == 7); expect(log == 7); log = 0;
            int x = 5; int y = (x = 8, 1) + 5; expect(y == 6); expect(x == 8);
            int i = 0; a[i++] += 2; expect(i == 1 && a[0] == 9);
            expect(({ int t = x; t *= 2; t + 1; }) == 17);
        }",
    );
}

#[test]
fn builtins_count_and_check() {
    check(
        "int main(void) {
            unsigned x = 0x1230; int r; unsigned u; unsigned char c;
            expect(__builtin_popcount(x) == 4); expect(__builtin_clz(x) == 19); expect(__builtin_ctz(x) == 4);
            expect(__builtin_ffs(0) == 0); expect(__builtin_ffs(8) == 4); expect(__builtin_parity(7) == 1);
            expect(__builtin_clzll(1) == 63); expect(__builtin_bswap32(0x11223344) == 0x44332211);
            expect(__builtin_add_overflow(2147483647, 1, &r) && r == -2147483647 - 1);
            expect(!__builtin_sub_overflow(3, 5, &r) && r == -2);
            expect(__builtin_sub_overflow(3u, 5u, &u) && u == 4294967294u);
            expect(__builtin_mul_overflow(65536u, 65536u, &u) && u == 0);
            expect(__builtin_add_overflow(200, 100, &c) && c == 44);
            expect(__builtin_expect(x > 2, 1)); expect(__builtin_abs(-5) == 5);
        }",
    );
}

#[test]
fn generic_selection_sizes_and_offsets() {
    check(
        "#include <stddef.h>
        struct s { char c; struct { short x; char y[3]; } in[2]; };
        int main(void) {
            expect(_Generic(1u, unsigned: 4, default: 5) == 4);
            expect(offsetof(struct s, in[1].y) == 10); expect(sizeof(\"q\" \"rs\") == 4); expect(sizeof 'a' == 4);
        }",
    );
}
