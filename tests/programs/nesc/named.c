// Races count only on the variables that are named: a member and an array.
// expect: races=true
// args: --nesc --race s.a --race table
typedef unsigned char __nesc_atomic_t;
__nesc_atomic_t __nesc_atomic_start(void);
void __nesc_atomic_end(__nesc_atomic_t saved);
void __nesc_enable_interrupt(void);
struct { int a; int b; } s;
int table[4];
int other;
__attribute((signal)) void __vector_3(void) { s.b = 1; other = 1; }
int main(void) {
    __nesc_enable_interrupt();
    while (1) {
        s.a = 2;
        s.b = 2;
        table[1] = 1;
        other = 2;
    }
}
