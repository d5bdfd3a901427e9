// A handler that can be interrupted is interrupted by itself.
// expect: races=false
// args: --nesc
typedef unsigned char __nesc_atomic_t;
__nesc_atomic_t __nesc_atomic_start(void);
void __nesc_atomic_end(__nesc_atomic_t saved);
void __nesc_enable_interrupt(void);
int x;
__attribute((interrupt)) void __vector_4(void) {
    x = x + 1; //~ RACE
}
int main(void) {
    __nesc_enable_interrupt();
    while (1) { }
}
