// Interrupts are enabled inside of an atomic section.
// expect: races=false
// args: --nesc
typedef unsigned char __nesc_atomic_t;
__nesc_atomic_t __nesc_atomic_start(void);
void __nesc_atomic_end(__nesc_atomic_t saved);
void __nesc_enable_interrupt(void);
int x;
__attribute((signal)) void __vector_3(void) { x = 1; } //~ RACE
int main(void) {
    __nesc_enable_interrupt();
    while (1) {
        { __nesc_atomic_t __nesc_atomic = __nesc_atomic_start();
          __nesc_enable_interrupt();
          x = 2; //~ RACE
          __nesc_atomic_end(__nesc_atomic); }
    }
}
