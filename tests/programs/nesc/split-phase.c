// The handler is armed again when the task has used the record (section 6 of paper 1).
// expect: races=true
// args: --nesc --race record --engine horn
typedef unsigned char __nesc_atomic_t;
__nesc_atomic_t __nesc_atomic_start(void);
void __nesc_atomic_end(__nesc_atomic_t saved);
void __nesc_enable_interrupt(void);
extern volatile unsigned char UDR;
int record;
unsigned char armed = 1, posted;
__attribute((signal)) void __vector_21(void) {
    if (armed) {
        armed = 0;
        record = UDR;
        posted = 1;
    }
}
int main(void) {
    __nesc_enable_interrupt();
    while (1) {
        if (posted) {
            posted = 0;
            record = record + 1;
            armed = 1;
        }
    }
}
