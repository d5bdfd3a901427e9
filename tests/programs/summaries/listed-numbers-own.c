// Each thread passes the address of its own local in a list: no other thread gets it.
// expect: races=true
// args: --engine summaries
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>

static void set(int count, ...) {
  va_list list;
  va_start(list, count);
  while (count-- > 0) {
    int *out = (int *)va_arg(list, uintptr_t);
    *out = count;
  }
  va_end(list);
}

static void *worker(void *unused) {
  int x, y;
  set(2, (uintptr_t)&x, (uintptr_t)&y);
  x += y;
  return 0;
}

int main(int argc, char **argv) {
  pthread_t threads[2];
  int z;
  pthread_create(&threads[0], 0, worker, 0);
  pthread_create(&threads[1], 0, worker, 0);
  set(argc > 1, (uintptr_t)&z);
  pthread_join(threads[0], 0);
  pthread_join(threads[1], 0);
  return 0;
}
