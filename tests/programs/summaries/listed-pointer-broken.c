// An address that is passed beyond the parameters of a function which is called through a pointer.
// todo: races=false
// args: --engine summaries
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>

static int x;

static void set(int count, ...) {
  va_list list;
  va_start(list, count);
  uintptr_t n = va_arg(list, uintptr_t);
  va_end(list);
  *(int *)n = 1;
}

static void (*setter)(int, ...) = set;

static void *worker(void *unused) {
  setter(1, (uintptr_t)&x);
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, worker, 0);
  x = 2;
  pthread_join(thread, 0);
  return 0;
}
