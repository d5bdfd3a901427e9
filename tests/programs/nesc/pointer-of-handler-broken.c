// A handler writes through a pointer that is set once: the task loop can be interrupted where it writes the same variable.
// expect: races=false
// args: --nesc
void __nesc_enable_interrupt(void);
int x;
int *target = &x;
__attribute((signal)) void __vector_15(void) {
    *target = 1; //~ RACE
}
int main(void) {
    __nesc_enable_interrupt();
    while (1) {
        x = 2; //~ RACE
    }
}
