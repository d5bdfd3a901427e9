// Before interrupts are enabled for the first time, nothing interferes.
// expect: races=true
// args: --nesc
typedef unsigned char __nesc_atomic_t;
__nesc_atomic_t __nesc_atomic_start(void);
void __nesc_atomic_end(__nesc_atomic_t saved);
void __nesc_enable_interrupt(void);
int x;
__attribute((signal)) void __vector_3(void) { x = x + 1; }
int main(void) {
    x = 5;
    __nesc_enable_interrupt();
    while (1) { }
}
