// A loop starts a thread in each round. In the second round, it writes what they read.
// expect: races=false
#include <pthread.h>
#include <stdint.h>

static struct {
  uint64_t connections, threads;
  int dynamic;
} settings;
static int elements[4];

static void *work(void *argument) {
  int sum = settings.dynamic; //~ RACE
  return 0;
}

int main(void) {
  settings.threads = 2;
  for (uint64_t i = 0; i < settings.threads; i++) {
    pthread_t id;
    if (i == 1)
      settings.dynamic = 1; //~ RACE
    pthread_create(&id, 0, work, &elements[i]);
  }
  return 0;
}
