// The member that is named is the one with the race.
// expect: races=false
// args: --nesc --race s.b
typedef unsigned char __nesc_atomic_t;
__nesc_atomic_t __nesc_atomic_start(void);
void __nesc_atomic_end(__nesc_atomic_t saved);
void __nesc_enable_interrupt(void);
struct { int a; int b; } s;
int other;
__attribute((signal)) void __vector_3(void) {
    other = 1;
    s.b = 1; //~ RACE
}
int main(void) {
    __nesc_enable_interrupt();
    while (1) {
        other = 2;
        s.a = 2;
        s.b = 2; //~ RACE
    }
}
