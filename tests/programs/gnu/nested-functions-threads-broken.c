// A thread reaches a variable by its address, and a nested function by its name.
// expect: races=false
#include <pthread.h>
static void *work(void *variable) {
  *(int *)variable = 1; //~ RACE
  return 0;
}
int main(void) {
  pthread_t thread;
  int shared = 0;
  void change(void) { shared = 2; } //~ RACE
  pthread_create(&thread, 0, work, &shared);
  change();
  pthread_join(thread, 0);
  return 0;
}
