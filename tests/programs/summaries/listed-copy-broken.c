// A list is copied, kept in a structure, and another function takes the address from it.
// todo: races=false
// args: --engine summaries
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>

static int x;

struct kept {
  int count;
  va_list list;
};

static void set(struct kept *kept) {
  uintptr_t n = va_arg(kept->list, uintptr_t);
  *(int *)n = 1;
}

static void keep(int count, va_list list) {
  struct kept kept = {count};
  va_copy(kept.list, list);
  set(&kept);
  va_end(kept.list);
}

static void pass(int count, ...) {
  va_list list;
  va_start(list, count);
  keep(count, list);
  va_end(list);
}

static void *worker(void *unused) {
  pass(1, (uintptr_t)&x);
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, worker, 0);
  x = 2;
  pthread_join(thread, 0);
  return 0;
}
