// Like tagged.c, but the same member is written.
// expect: races=false
#include <pthread.h>
#include <stdint.h>

static struct {
  int one;
  int two;
} pair;

#define TAG ((uint64_t)5 << 48)
#define BITS (((uint64_t)1 << 48) - 1)

static uint64_t tagged(int *p) { return ((uint64_t)p & BITS) | TAG; }

static int *untagged(uint64_t value) { return (int *)(value & BITS); }

static void *worker(void *unused) {
  uint64_t value = tagged(&pair.one);
  *untagged(value) = 1; //~ RACE
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, worker, 0);
  pair.one = 2; //~ RACE
  pthread_join(thread, 0);
  return 0;
}
