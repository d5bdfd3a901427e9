// The flag is set by hand.
// expect: races=false
// args: --nesc
extern volatile unsigned char SREG;
int x;
__attribute((signal)) void SIG_ADC(void) { x = 3; } //~ RACE
int main(void) {
    asm volatile("cli");
    SREG = 0x80;
    x = 1; //~ RACE
    asm volatile("cli");
    x = 2;
    return 0;
}
