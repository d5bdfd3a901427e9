// A handler writes through a pointer that is set once: the task loop cannot be interrupted where it writes the same variable.
// expect: races=true
// args: --nesc
typedef unsigned char __nesc_atomic_t;
__nesc_atomic_t __nesc_atomic_start(void);
void __nesc_atomic_end(__nesc_atomic_t saved);
void __nesc_enable_interrupt(void);
int x;
int *target = &x;
__attribute((signal)) void __vector_15(void) {
    *target = 1;
}
int main(void) {
    __nesc_enable_interrupt();
    while (1) {
        { __nesc_atomic_t __nesc_atomic = __nesc_atomic_start();
          x = 2;
          __nesc_atomic_end(__nesc_atomic); }
    }
}
