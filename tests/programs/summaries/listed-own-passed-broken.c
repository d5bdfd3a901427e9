// Like listed-own.c, but another thread takes the address from the list.
// todo: races=false
// args: --engine summaries
#include <pthread.h>
#include <stdarg.h>

static void *taker(void *argument) {
  va_list *list = argument;
  int *p = va_arg(*list, int *);
  *p = 1; //~ RACE
  return 0;
}

static void set(int count, ...) {
  va_list list;
  pthread_t thread;
  va_start(list, count);
  pthread_create(&thread, 0, taker, &list);
  int *p = va_arg(list, int *);
  *p = count; //~ RACE
  pthread_join(thread, 0);
  va_end(list);
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
