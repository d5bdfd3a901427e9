// What a function takes from its list was passed to that function: the address that another one was passed is not among
// it.
// expect: races=true
// args: --engine summaries
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>

static int x, count;

static void set(int count, ...) {
  va_list list;
  va_start(list, count);
  uintptr_t n = va_arg(list, uintptr_t);
  va_end(list);
  *(int *)n = 1;
}

static uintptr_t first(int count, ...) {
  va_list list;
  va_start(list, count);
  uintptr_t n = va_arg(list, uintptr_t);
  va_end(list);
  return n;
}

static void *worker(void *unused) {
  int own;
  if (count > 2)
    set(1, (uintptr_t)&own);
  return 0;
}

int main(int argc, char **argv) {
  pthread_t thread;
  count = argc;
  pthread_create(&thread, 0, worker, 0);
  if (count > 2)
    *(int *)first(1, (uintptr_t)&x) = 1;
  x = 2;
  pthread_join(thread, 0);
  return 0;
}
