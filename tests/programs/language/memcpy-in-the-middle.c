// Copies before threads start, and `memmove` of ranges that overlap, are as one step.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <string.h>
static long words[4];
static void *reader(void *unused) {
  assert(words[0] == 2 && words[1] == 3 && words[2] == 4 && words[3] == 4);
  return unused;
}
static void *mover(void *unused) {
  long own[4] = {1, 2, 3, 4};
  memmove(own + 1, own, 3 * sizeof own[0]);
  assert(own[0] == 1 && own[1] == 1 && own[2] == 2 && own[3] == 3);
  return unused;
}
int main(void) {
  long start[4] = {1, 2, 3, 4};
  memcpy(words, start, sizeof words);
  memmove(words, words + 1, 3 * sizeof words[0]);
  pthread_t one, two;
  pthread_create(&one, 0, reader, 0);
  pthread_create(&two, 0, mover, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
