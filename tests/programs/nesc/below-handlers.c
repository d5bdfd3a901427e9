// The task loop never interrupts a handler: its atomic section does not run while a handler does.
// expect: races=true
// args: --nesc
typedef unsigned char __nesc_atomic_t;
__nesc_atomic_t __nesc_atomic_start(void);
void __nesc_atomic_end(__nesc_atomic_t saved);
void __nesc_enable_interrupt(void);
int x;
__attribute((interrupt)) void __vector_15(void) {
    static unsigned char busy;
    unsigned char before;
    { __nesc_atomic_t __nesc_atomic = __nesc_atomic_start();
      before = busy;
      busy = 1;
      __nesc_atomic_end(__nesc_atomic); }
    if (!before) {
        x = x + 1;
        { __nesc_atomic_t __nesc_atomic = __nesc_atomic_start();
          busy = 0;
          __nesc_atomic_end(__nesc_atomic); }
    }
}
int main(void) {
    __nesc_enable_interrupt();
    while (1) {
        { __nesc_atomic_t __nesc_atomic = __nesc_atomic_start();
          x = 2;
          __nesc_atomic_end(__nesc_atomic); }
    }
}
