// Inner atomic sections, also of called functions, leave interrupts disabled when they end.
// expect: races=true
// args: --nesc
typedef unsigned char __nesc_atomic_t;
__nesc_atomic_t __nesc_atomic_start(void);
void __nesc_atomic_end(__nesc_atomic_t saved);
void __nesc_enable_interrupt(void);
int x, y;
static void bump(void) {
    { __nesc_atomic_t __nesc_atomic = __nesc_atomic_start();
      y = y + 1;
      __nesc_atomic_end(__nesc_atomic); }
}
__attribute((signal)) void __vector_3(void) { bump(); x = 1; }
int main(void) {
    __nesc_enable_interrupt();
    while (1) {
        bump();
        { __nesc_atomic_t __nesc_atomic = __nesc_atomic_start();
          bump();
          x = 2;
          __nesc_atomic_end(__nesc_atomic); }
    }
}
