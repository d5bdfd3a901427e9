// Stores to the members of a structure leave its padding alone, as common compilers implement them.
// expect: races=true assertions=true
#include <assert.h>
#include <pthread.h>
struct padded {
  char first;
  int second;
} shared, other;
static void *copy(void *argument) {
  shared.first = other.first;
  shared.second = other.second;
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, copy, 0);
  ((char *)&shared)[1] = 1;
  pthread_join(thread, 0);
  assert(((char *)&shared)[1] == 1);
  return 0;
}
