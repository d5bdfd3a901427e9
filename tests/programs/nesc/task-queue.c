// Tasks that a handler posts run one after the other.
// expect: races=true
// args: --nesc --race x
typedef unsigned char __nesc_atomic_t;
__nesc_atomic_t __nesc_atomic_start(void);
void __nesc_atomic_end(__nesc_atomic_t saved);
void __nesc_enable_interrupt(void);
#define TASKS 4
void (*queue[TASKS])(void);
unsigned char first, next;
int x;
static void post(void (*task)(void)) {
    { __nesc_atomic_t __nesc_atomic = __nesc_atomic_start();
      if (queue[next] == 0) {
          queue[next] = task;
          next = (next + 1) & (TASKS - 1);
      }
      __nesc_atomic_end(__nesc_atomic); }
}
static void count(void) { x = x + 1; }
static void reset(void) { x = 0; }
__attribute((signal)) void __vector_3(void) { post(count); }
__attribute((interrupt)) void __vector_4(void) { post(reset); }
int main(void) {
    __nesc_enable_interrupt();
    while (1) {
        void (*task)(void);
        __nesc_atomic_t saved = __nesc_atomic_start();
        task = queue[first];
        if (task == 0) {
            __nesc_enable_interrupt();
        } else {
            queue[first] = 0;
            first = (first + 1) & (TASKS - 1);
            __nesc_atomic_end(saved);
            task();
        }
    }
}
