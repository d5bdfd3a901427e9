// An address that is passed as a number to a function with any number of arguments.
// expect: races=false
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>

static int x;

static void set(int count, ...) {
  va_list list;
  va_start(list, count);
  uintptr_t n = va_arg(list, uintptr_t);
  va_end(list);
  *(int *)n = 1; //~ RACE
}

static void *worker(void *unused) {
  set(1, (uintptr_t)&x);
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, worker, 0);
  x = 1; //~ RACE
  pthread_join(thread, 0);
  return x;
}
