// The state is given back before the access.
// expect: races=false
// args: --nesc --race x
typedef unsigned char __nesc_atomic_t;
__nesc_atomic_t __nesc_atomic_start(void);
void __nesc_atomic_end(__nesc_atomic_t saved);
void __nesc_enable_interrupt(void);
int x;
unsigned char state;
static void use(void) {
    unsigned char old;
    { __nesc_atomic_t __nesc_atomic = __nesc_atomic_start();
      old = state;
      if (old == 0) state = 1;
      __nesc_atomic_end(__nesc_atomic); }
    if (old == 0) {
        { __nesc_atomic_t __nesc_atomic = __nesc_atomic_start();
          state = 0;
          __nesc_atomic_end(__nesc_atomic); }
        x = x + 1; //~ RACE
    }
}
__attribute((interrupt)) void __vector_15(void) { use(); }
int main(void) {
    __nesc_enable_interrupt();
    while (1) use();
}
