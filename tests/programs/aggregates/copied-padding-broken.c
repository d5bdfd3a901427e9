// A copy of a structure writes its padding, too (C11 6.2.6.1p6), so it races with a write of a byte there,
// and what was written is lost.
// expect: races=false assertions=false
#include <assert.h>
#include <pthread.h>
struct padded {
  char first;
  int second;
} shared, other;
static void *copy(void *argument) {
  shared = other; //~ RACE
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, copy, 0);
  ((char *)&shared)[1] = 1; //~ RACE
  pthread_join(thread, 0);
  assert(((char *)&shared)[1] == 1); //~ ERROR
  return 0;
}
