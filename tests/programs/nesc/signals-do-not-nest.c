// Two handlers that start with interrupts disabled cannot interrupt each other.
// expect: races=true
// args: --nesc
typedef unsigned char __nesc_atomic_t;
__nesc_atomic_t __nesc_atomic_start(void);
void __nesc_atomic_end(__nesc_atomic_t saved);
void __nesc_enable_interrupt(void);
int x;
__attribute((signal)) void __vector_3(void) { x = x + 1; }
__attribute((signal)) void __vector_4(void) { x = x + 2; }
int main(void) {
    __nesc_enable_interrupt();
    while (1) { }
}
