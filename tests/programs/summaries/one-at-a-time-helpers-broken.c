// Threads start two helpers that get the same structure, and join them afterwards.
// expect: races=false
#include <pthread.h>

struct part {
  int at;
  int values[4];
};

static void *help(void *argument) {
  struct part *part = argument;
  part->values[part->at & 3] = 1; //~ RACE
  return 0;
}

static void *work(void *unused) {
  struct part part = {0};
  pthread_t first, second;
  pthread_create(&first, 0, help, &part);
  pthread_create(&second, 0, help, &part);
  pthread_join(first, 0);
  pthread_join(second, 0);
  return 0;
}

int main(void) {
  pthread_t one, other;
  pthread_create(&one, 0, work, 0);
  pthread_create(&other, 0, work, 0);
  pthread_join(one, 0);
  pthread_join(other, 0);
  return 0;
}
