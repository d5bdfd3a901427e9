// A thread hands its list to another one, which writes to the local whose address was passed.
// todo: races=false
// args: --engine summaries
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>

struct handed {
  va_list list;
};

static void *worker(void *argument) {
  struct handed *handed = argument;
  int *out = (int *)va_arg(handed->list, uintptr_t);
  *out = 1;
  return 0;
}

static void hand(int *own, ...) {
  struct handed handed;
  pthread_t thread;
  va_start(handed.list, own);
  pthread_create(&thread, 0, worker, &handed);
  *own = 2;
  pthread_join(thread, 0);
  va_end(handed.list);
}

int main(void) {
  int x;
  hand(&x, (uintptr_t)&x);
  return 0;
}
