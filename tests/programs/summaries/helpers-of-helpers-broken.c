// Like helpers.c, but helpers start helpers of their own kind, and do not join them.
// expect: races=false
#include <pthread.h>

struct shared {
  int depth, count;
};

static void *look(void *argument);

static void start(struct shared *shared) {
  pthread_t id;
  pthread_create(&id, 0, look, shared);
}

static void *look(void *argument) {
  struct shared *shared = argument;
  if (__atomic_fetch_sub(&shared->depth, 1, __ATOMIC_SEQ_CST) > 0) start(shared);
  return shared->count ? argument : 0; //~ RACE
}

static void *work(void *unused) {
  struct shared shared = {1, 1};
  pthread_t id;
  pthread_create(&id, 0, look, &shared);
  pthread_join(id, 0);
  shared.count = 0; //~ RACE
  for (;;) {}
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, work, 0);
  pthread_create(&two, 0, work, 0);
  return 0;
}
