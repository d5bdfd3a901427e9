// A packet with the right checksum, received byte by byte, makes the handler do what races with the task.
// expect: races=false
// args: --nesc --race x
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
            x = 1; //~ RACE
        count = 0;
    }
}
int main(void) {
    __nesc_enable_interrupt();
    while (1)
        x = 2;
}
