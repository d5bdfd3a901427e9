// expect: races=false
// In a large program, memory that a function allocates for its callers is told apart by the call: this is called once.
#include <pthread.h>
#include <stdlib.h>

static void *get(size_t size) {
  void *memory = malloc(size);
  if (!memory) abort();
  return memory;
}

struct count { int done; };
struct count *first, *second;

#define STEP sum = sum * 3u + 1u;
#define STEPS STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP
#define MANY STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS

static unsigned mix(unsigned sum) {
  MANY MANY MANY MANY MANY MANY MANY MANY MANY MANY
  return sum;
}

static void *one(void *argument) {
  first->done = (int)(mix(1) % 2u); //~ RACE
  return 0;
}

static void *other(void *argument) {
  second->done = (int)(mix(2) % 2u); //~ RACE
  return 0;
}

int main(void) {
  first = get(sizeof *first);
  second = first;
  pthread_t ids[2];
  pthread_create(&ids[0], 0, one, 0);
  pthread_create(&ids[1], 0, other, 0);
  return 0;
}
