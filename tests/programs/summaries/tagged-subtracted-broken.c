// Like tagged.c, but the number is taken off by a subtraction, and the same member is written.
// todo: races=false
// args: --engine summaries
#include <pthread.h>
#include <stdint.h>

static struct {
  int one;
  int two;
} pair;

#define TAG ((uint64_t)5 << 48)

static void *worker(void *unused) {
  uint64_t value = (uint64_t)&pair.one | TAG;
  *(int *)(value - TAG) = 1;
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, worker, 0);
  pair.one = 2;
  pthread_join(thread, 0);
  return 0;
}
