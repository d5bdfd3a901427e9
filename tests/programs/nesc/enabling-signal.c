// What a handler does before it enables interrupts is not interrupted.
// expect: races=true
// args: --nesc
typedef unsigned char __nesc_atomic_t;
__nesc_atomic_t __nesc_atomic_start(void);
void __nesc_atomic_end(__nesc_atomic_t saved);
void __nesc_enable_interrupt(void);
int x;
__attribute((signal)) void __vector_4(void) {
    x = 1;
    __nesc_enable_interrupt();
}
int main(void) {
    __nesc_enable_interrupt();
    while (1) { }
}
