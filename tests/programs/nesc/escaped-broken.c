// A byte that was received is sent back. If it must be escaped, the handler gives the second byte to the port first and takes note of that only then: the next interrupt may come before it has.
// expect: races=false
// args: --nesc --race sending
typedef unsigned char __nesc_atomic_t;
__nesc_atomic_t __nesc_atomic_start(void);
void __nesc_atomic_end(__nesc_atomic_t saved);
void __nesc_enable_interrupt(void);
extern volatile unsigned char DATA;
unsigned char receiving, token, answer, asked, busy, sending;
__attribute((signal)) void __vector_18(void) {
    unsigned char byte = DATA;
    if (receiving == 0) {
        if (byte == 0x7e) receiving = 1;
    } else if (receiving == 1) {
        if (byte == 0x7d) receiving = 2;
        else if (byte != 0x7e) { token = byte; receiving = 3; }
    } else if (receiving == 2) {
        token = byte ^ 0x20;
        receiving = 3;
    } else {
        receiving = 0;
        if (byte == (unsigned char)(token * 37u + 11u)) { answer = token; asked = 1; }
    }
}
static unsigned char put(void) {
    unsigned char was;
    { __nesc_atomic_t __nesc_atomic = __nesc_atomic_start();
      was = busy;
      busy = 1;
      __nesc_atomic_end(__nesc_atomic); }
    return was;
}
__attribute((interrupt)) void __vector_20(void) {
    unsigned char was;
    { __nesc_atomic_t __nesc_atomic = __nesc_atomic_start();
      was = busy;
      busy = 0;
      __nesc_atomic_end(__nesc_atomic); }
    if (!was) return;
    if (sending == 1) { //~ RACE
        if (answer == 0x7e || answer == 0x7d) {
            sending = 2;
            put();
        } else
            sending = 0;
    } else if (sending == 2) {
        put();
        sending = 0; //~ RACE
    }
}
int main(void) {
    __nesc_enable_interrupt();
    while (1) {
        { __nesc_atomic_t __nesc_atomic = __nesc_atomic_start();
          if (asked && !sending && !busy) { asked = 0; sending = 1; busy = 1; }
          __nesc_atomic_end(__nesc_atomic); }
    }
}
