// Two halves of an address are passed in a list, and joined again.
// todo: races=false
// args: --engine summaries
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>

static int x;

static void set(int count, ...) {
  va_list list;
  va_start(list, count);
  uint32_t high = va_arg(list, uint32_t);
  uint32_t low = va_arg(list, uint32_t);
  va_end(list);
  *(int *)((uint64_t)high << 32 | low) = 1;
}

static void *worker(void *argument) {
  uint64_t n = (uint64_t)&x;
  if (argument)
    set(2, (uint32_t)(n >> 32), (uint32_t)n);
  return 0;
}

int main(int argc, char **argv) {
  pthread_t thread;
  pthread_create(&thread, 0, worker, argc > 2 ? argv : 0);
  x = 2;
  pthread_join(thread, 0);
  return 0;
}
