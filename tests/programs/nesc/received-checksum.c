// A packet with the right checksum makes the handler do what the task does with interrupts disabled.
// expect: races=true
// args: --nesc --race x
typedef unsigned char __nesc_atomic_t;
__nesc_atomic_t __nesc_atomic_start(void);
void __nesc_atomic_end(__nesc_atomic_t saved);
void __nesc_enable_interrupt(void);
extern volatile unsigned char DATA;
unsigned char received[3], count;
unsigned short sum;
int x;
__attribute((signal)) void __vector_1(void) {
    unsigned char byte = DATA;
    if (count < 3) {
        received[count] = byte;
        if (count == 0)
            sum = (unsigned short)((byte * 4129u) ^ 0x5a5au);
        count++;
    } else {
        unsigned short told = (unsigned short)((received[1] << 8) | received[2]);
        if (told == sum && received[0] > 100)
            x = 1;
        count = 0;
    }
}
int main(void) {
    __nesc_enable_interrupt();
    while (1) {
        __nesc_atomic_t saved = __nesc_atomic_start();
        x = 2;
        __nesc_atomic_end(saved);
    }
}
