// Inline assembly that only computes is exact: the table's entry for 3 is 0x3063, so the handler never writes what the task reads.
// expect: races=true
// args: --nesc
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
void __nesc_enable_interrupt(void);
uint16_t table[4] = { 0x0000, 0x1021, 0x2042, 0x3063 };
int x;
static uint16_t checksum(uint16_t old, uint8_t byte) {
    uint16_t *entry = table;
    uint16_t result;
    __asm ("eor %1,%B3\n\tlsl %1\n\tadc %B2, __zero_reg__\n\tadd %A2, %1\n\tadc %B2, __zero_reg__\n\tlpm\n\tmov %B0, %A3\n\tmov %A0, r0\n\tadiw r30,1\n\tlpm\n\teor %B0, r0"
        : "=r"(result), "+r"(byte), "+z"(entry) : "r"(old));
    return result;
}
__attribute((signal)) void __vector_1(void) {
    if (checksum(0x0005, 3) != 0x3563)
        x = 1;
}
int main(void) {
    __nesc_enable_interrupt();
    while (1)
        x = 2;
}
