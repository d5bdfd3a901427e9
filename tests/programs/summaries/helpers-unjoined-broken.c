// Like helpers.c, but one of the helpers is not joined.
// expect: races=false
#include <pthread.h>

struct shared {
  int count;
};

static void *look(void *argument) {
  struct shared *shared = argument;
  return shared->count ? argument : 0; //~ RACE
}

static void count(void) {
  struct shared shared;
  pthread_t ids[2];
  shared.count = 1;
  for (int i = 0; i < 2; i++) pthread_create(&ids[i], 0, look, &shared);
  for (int i = 0; i < 1; i++) pthread_join(ids[i], 0);
  shared.count = 0; //~ RACE
  pthread_join(ids[1], 0);
}

static void *work(void *unused) {
  count();
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, work, 0);
  pthread_create(&two, 0, work, 0);
  return 0;
}
