// A loop starts a thread in each round and joins it before the next one; threads do the same with helpers. They read and write what
// their argument points to, at places that are computed.
// expect: races=true
// args: --engine summaries
#include <pthread.h>
#include <stdlib.h>

static int results[4], last;

static void *round_of(void *unused) {
  results[last & 3] = last;
  return 0;
}

struct part {
  int at;
  int values[4];
};

static void *help(void *argument) {
  struct part *part = argument;
  part->values[part->at & 3] = 1;
  return 0;
}

static void *work(void *unused) {
  struct part part;
  for (int i = 0; i < 3; i++) {
    pthread_t helper;
    part.at = i;
    pthread_create(&helper, 0, help, &part);
    pthread_join(helper, 0);
  }
  return 0;
}

int main(void) {
  for (int i = 0; i < 3; i++) {
    pthread_t id;
    last = i;
    pthread_create(&id, 0, round_of, 0);
    pthread_join(id, 0);
  }
  pthread_t one, other;
  pthread_create(&one, 0, work, 0);
  pthread_create(&other, 0, work, 0);
  pthread_join(one, 0);
  pthread_join(other, 0);
  return 0;
}
