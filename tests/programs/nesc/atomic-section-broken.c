// The task loop reads outside of the atomic section.
// expect: races=false
// args: --nesc
typedef unsigned char __nesc_atomic_t;
__nesc_atomic_t __nesc_atomic_start(void);
void __nesc_atomic_end(__nesc_atomic_t saved);
void __nesc_enable_interrupt(void);
int x;
__attribute((interrupt)) void __vector_15(void) {
    { __nesc_atomic_t __nesc_atomic = __nesc_atomic_start(); x = x + 1; __nesc_atomic_end(__nesc_atomic); } //~ RACE
}
int main(void) {
    int seen;
    __nesc_enable_interrupt();
    while (1) {
        { __nesc_atomic_t __nesc_atomic = __nesc_atomic_start();
          x = 2;
          __nesc_atomic_end(__nesc_atomic); }
        seen = x; //~ RACE
    }
}
