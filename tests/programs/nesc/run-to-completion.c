// The handler sees the same value twice: what it interrupted does not run meanwhile.
// todo: races=true
// args: --nesc --race x
typedef unsigned char __nesc_atomic_t;
__nesc_atomic_t __nesc_atomic_start(void);
void __nesc_atomic_end(__nesc_atomic_t saved);
void __nesc_enable_interrupt(void);
unsigned char flag;
int x;
__attribute((interrupt)) void __vector_15(void) {
    unsigned char first = flag;
    unsigned char second = flag;
    if (first != second) x = 1;
}
int main(void) {
    __nesc_enable_interrupt();
    while (1) {
        flag = !flag;
        x = 2;
    }
}
