// A handler that starts with interrupts disabled enables them, and is interrupted by itself.
// expect: races=false
// args: --nesc
typedef unsigned char __nesc_atomic_t;
__nesc_atomic_t __nesc_atomic_start(void);
void __nesc_atomic_end(__nesc_atomic_t saved);
void __nesc_enable_interrupt(void);
int x;
__attribute((signal)) void __vector_4(void) {
    __nesc_enable_interrupt();
    x = 1; //~ RACE
}
int main(void) {
    __nesc_enable_interrupt();
    while (1) { }
}
