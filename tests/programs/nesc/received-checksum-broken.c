// A packet with the right checksum, received byte by byte, makes the handler do what races with the task.
// expect: races=false
// args: --nesc --race x
void __nesc_enable_interrupt(void);
extern volatile unsigned char DATA;
unsigned char received[3], count;
unsigned short sum;
int x;
static unsigned short sum_of(unsigned char byte) { return (unsigned short)((byte * 4129u) ^ 0x5a5au); }
__attribute((signal)) void __vector_1(void) { if (count < 3) { received[count] = DATA; count++; } else { count = 0; sum = sum_of(received[0]); if (((received[1] << 8) | received[2]) == sum && received[0] > 100) x = 1; } } //~ RACE
int main(void) {
    __nesc_enable_interrupt();
    while (1)
        x = 2; //~ RACE
}
