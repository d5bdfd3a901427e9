// The thread's variables are in memory that the first thread fills.
// todo: races=false
#include <pthread.h>
static char stack[65536] __attribute__((aligned(4096)));
static void *run(void *arg) {
  int numbers[4] = {1, 2, 3, 4};
  return numbers[(long)arg] ? arg : 0;
}
int main(void) {
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack, sizeof stack);
  pthread_create(&thread, &attributes, run, 0);
  stack[100] = 1;
  pthread_join(thread, 0);
  return 0;
}
