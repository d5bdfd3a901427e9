// The handler is armed before the task has used the record.
// expect: races=false
// args: --nesc --race record
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
        record = UDR; //~ RACE
        posted = 1;
    }
}
int main(void) {
    __nesc_enable_interrupt();
    while (1) {
        if (posted) {
            posted = 0;
            armed = 1;
            record = record + 1; //~ RACE
        }
    }
}
