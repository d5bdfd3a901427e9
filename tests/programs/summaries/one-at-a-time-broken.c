// A loop starts a thread in each round and joins it before the next one, but not in the last round, after which there is another one.
// expect: races=false
#include <pthread.h>

static int results[4], last;

static void *round_of(void *unused) {
  results[last & 3] = last; //~ RACE
  return 0;
}

int main(void) {
  pthread_t id;
  for (int i = 0; i < 2; i++) {
    pthread_create(&id, 0, round_of, 0);
    if (i < 1)
      pthread_join(id, 0);
  }
  pthread_create(&id, 0, round_of, 0);
  pthread_join(id, 0);
  return 0;
}
