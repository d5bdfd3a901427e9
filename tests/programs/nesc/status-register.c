// The status register is saved and restored by hand, and by functions of the program.
// expect: races=true
// args: --nesc
extern volatile unsigned char SREG;
extern volatile unsigned char PORTA;
int x;
static unsigned char enter(void) {
    unsigned char saved = SREG;
    asm volatile("cli");
    return saved;
}
static void leave(unsigned char saved) { SREG = saved; }
__attribute((signal)) void SIG_ADC(void) {
    unsigned char saved = enter();
    x = PORTA;
    leave(saved);
    x = x + 1;
}
int main(void) {
    asm volatile("sei");
    while (1) {
        unsigned char saved = *(volatile unsigned char *)0x5f;
        asm volatile("cli");
        x = 1;
        SREG = saved;
        saved = enter();
        x = 2;
        leave(saved);
    }
}
