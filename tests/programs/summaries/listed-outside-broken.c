// A list is passed to a function of which nothing is known, and another such function gives back an address from it.
// todo: races=false
// args: --engine summaries
#include <pthread.h>
#include <stdarg.h>

static int x;

void outside(va_list list);
int *given(void);

static void pass(int count, ...) {
  va_list list;
  va_start(list, count);
  outside(list);
  va_end(list);
}

static void *worker(void *unused) {
  *given() = 1;
  return 0;
}

int main(void) {
  pthread_t thread;
  pass(1, &x);
  pthread_create(&thread, 0, worker, 0);
  x = 2;
  pthread_join(thread, 0);
  return 0;
}
