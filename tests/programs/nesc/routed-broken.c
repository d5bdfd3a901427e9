// A message with the right checksum and an escaped byte makes a neighbour the parent, some ticks later; then the task and the handler of the timer write the same variable.
// expect: races=false
// args: --nesc --race x
void __nesc_enable_interrupt(void);
extern volatile unsigned char DATA;
unsigned char frame[6], length, sum, escaped, arrived, ticks;
unsigned char quality[4], sender[4], parent;
int x;
__attribute((signal)) void __vector_18(void) {
    unsigned char byte = DATA;
    if (arrived) return;
    if (byte == 0x7e) {
        if (length == 5 && sum == frame[4]) arrived = 1;
        else length = sum = 0;
        return;
    }
    if (byte == 0x7d) { escaped = 1; return; }
    if (escaped) { escaped = 0; byte ^= 0x20; }
    if (length < 4) sum = sum * 5 + byte;
    if (length < 6) frame[length++] = byte;
}
__attribute((signal)) void __vector_15(void) {
    if (ticks < 20) ticks++;
    if (parent == 0x7e) x = 1; //~ RACE
}
int main(void) {
    unsigned char i;
    __nesc_enable_interrupt();
    while (1) {
        if (arrived) {
            if (frame[0] == 0xfa && frame[3] > 0) {
                quality[frame[1] & 3] = frame[2];
                sender[frame[1] & 3] = frame[1];
            }
            length = sum = 0;
            arrived = 0;
        }
        if (ticks >= 20) {
            ticks = 0;
            for (i = 0; i < 4; i++)
                if (quality[i] >= 25) parent = sender[i];
        }
        if (parent == 0x7e) x = 2; //~ RACE
    }
}
