// The race comes after a hundred firings: a clock that runs down starts a conversion, and runs down again while the handler of that is interrupted.
// expect: races=false
// args: --nesc --race counted
typedef unsigned char __nesc_atomic_t;
__nesc_atomic_t __nesc_atomic_start(void);
void __nesc_atomic_end(__nesc_atomic_t saved);
void __nesc_enable_interrupt(void);
unsigned char left = 60, converting, counted;
__attribute((signal)) void __vector_1(void) { if (left > 0) left--; else { left = 40; if (converting == 2) counted = 0; else converting = 1; } } //~ RACE
__attribute((interrupt)) void __vector_2(void) {
    unsigned char taken;
    { __nesc_atomic_t __nesc_atomic = __nesc_atomic_start();
      taken = converting == 1;
      if (taken) converting = 2;
      __nesc_atomic_end(__nesc_atomic); }
    if (taken) {
        counted = counted + 1; //~ RACE
        { __nesc_atomic_t __nesc_atomic = __nesc_atomic_start();
          converting = 0;
          __nesc_atomic_end(__nesc_atomic); }
    }
}
int main(void) {
    __nesc_enable_interrupt();
    while (1) { }
}
