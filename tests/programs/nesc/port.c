// The story of `tosPort` (section 6 of paper 1): the handler that gives the state back is enabled only when the port is written.
// expect: races=true
// args: --nesc --race port
typedef unsigned char __nesc_atomic_t;
__nesc_atomic_t __nesc_atomic_start(void);
void __nesc_atomic_end(__nesc_atomic_t saved);
void __nesc_enable_interrupt(void);
extern volatile unsigned char ADCL;
unsigned char port, state, converting;
__attribute((signal)) void __vector_21(void) {
    if (converting) {
        converting = 0;
        state = 0;
    }
}
__attribute((interrupt)) void __vector_15(void) {
    unsigned char free;
    { __nesc_atomic_t __nesc_atomic = __nesc_atomic_start();
      free = state == 0;
      if (free) state = 1;
      __nesc_atomic_end(__nesc_atomic); }
    if (free) {
        port = ADCL;
        { __nesc_atomic_t __nesc_atomic = __nesc_atomic_start();
          converting = 1;
          __nesc_atomic_end(__nesc_atomic); }
    }
}
int main(void) {
    __nesc_enable_interrupt();
    while (1) { }
}
