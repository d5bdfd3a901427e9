// A handler that can be interrupted is interrupted by itself; its accesses are atomic.
// expect: races=true
// args: --nesc
typedef unsigned char __nesc_atomic_t;
__nesc_atomic_t __nesc_atomic_start(void);
void __nesc_atomic_end(__nesc_atomic_t saved);
void __nesc_enable_interrupt(void);
int x;
__attribute((interrupt)) void __vector_4(void) {
    { __nesc_atomic_t __nesc_atomic = __nesc_atomic_start();
      x = x + 1;
      __nesc_atomic_end(__nesc_atomic); }
}
int main(void) {
    __nesc_enable_interrupt();
    while (1) { }
}
