// Like helpers-in-frame.c, but the function calls itself while its own helper runs, and its handle is that of the inner call.
// expect: races=false
#include <pthread.h>

static void *look(void *argument) {
  int *count = argument;
  return *count ? argument : 0; //~ RACE
}

static void start(int depth, int *count, pthread_t *outer) {
  pthread_t id;
  pthread_create(&id, 0, look, count);
  if (depth > 0) start(depth - 1, count, &id);
  if (outer) *outer = id;
  else pthread_join(id, 0);
}

static void *work(void *unused) {
  int count = 1;
  start(1, &count, 0);
  count = 0; //~ RACE
  for (;;) {}
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, work, 0);
  pthread_create(&two, 0, work, 0);
  return 0;
}
