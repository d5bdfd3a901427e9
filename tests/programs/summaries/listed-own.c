// A function with any number of arguments writes to where they say. Each thread passes the address of its own variable.
// expect: races=true
// args: --engine summaries
#include <pthread.h>
#include <stdarg.h>

static void set(int count, ...) {
  va_list list;
  va_start(list, count);
  int *p = va_arg(list, int *);
  va_end(list);
  *p = count;
}

static void *worker(void *unused) {
  int own;
  set(1, &own);
  own++;
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, worker, 0);
  pthread_create(&two, 0, worker, 0);
  return 0;
}
