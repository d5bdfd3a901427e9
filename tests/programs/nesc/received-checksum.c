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
static unsigned short sum_of(unsigned char byte) { return (unsigned short)((byte * 4129u) ^ 0x5a5au); }
__attribute((signal)) void __vector_1(void) { if (count < 3) { received[count] = DATA; count++; } else { count = 0; sum = sum_of(received[0]); if (((received[1] << 8) | received[2]) == sum && received[0] > 100) x = 1; } }
int main(void) {
    __nesc_enable_interrupt();
    while (1) {
        __nesc_atomic_t saved = __nesc_atomic_start();
        x = 2;
        __nesc_atomic_end(saved);
    }
}
