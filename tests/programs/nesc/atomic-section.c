// Atomic sections in the task loop and in a handler that can be interrupted.
// expect: races=true
// args: --nesc
typedef unsigned char __nesc_atomic_t;
__nesc_atomic_t __nesc_atomic_start(void);
void __nesc_atomic_end(__nesc_atomic_t saved);
void __nesc_enable_interrupt(void);
int x;
__attribute((interrupt)) void __vector_15(void) {
    { __nesc_atomic_t __nesc_atomic = __nesc_atomic_start();
      x = x + 1;
      __nesc_atomic_end(__nesc_atomic); }
}
int main(void) {
    x = 0;
    __nesc_enable_interrupt();
    while (1) {
        { __nesc_atomic_t __nesc_atomic = __nesc_atomic_start();
          x = 2;
          __nesc_atomic_end(__nesc_atomic); }
    }
}
