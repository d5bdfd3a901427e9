// Like listed-own.c, but the variable is that of all threads.
// todo: races=false
// args: --engine summaries
#include <pthread.h>
#include <stdarg.h>

static void set(int count, ...) {
  va_list list;
  va_start(list, count);
  int *p = va_arg(list, int *);
  va_end(list);
  *p = count; //~ RACE
}

static void *worker(void *unused) {
  static int own;
  set(1, &own);
  own++; //~ RACE
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, worker, 0);
  pthread_create(&two, 0, worker, 0);
  return 0;
}
