// expect: races=true
// A thread's own variable with external linkage, and a list of arguments.
#include <pthread.h>
#include <stdarg.h>
_Thread_local int own;
static int first(int count, ...) {
  va_list list;
  va_start(list, count);
  int *given = va_arg(list, int *);
  va_end(list);
  return *given;
}
static void *work(void *argument) {
  int mine = 1;
  own = first(1, &mine);
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  own = 2;
  pthread_join(thread, 0);
  return 0;
}
