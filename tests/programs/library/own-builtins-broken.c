// The program's own function counts its calls, in two threads.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
static int calls;
int abs(int number) {
  calls++; //~ RACE
  return number;
}
static void *run(void *arg) {
  abs(1);
  return arg;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  abs(2);
  pthread_join(thread, 0);
  assert(calls == 0); //~ ERROR
  return 0;
}
