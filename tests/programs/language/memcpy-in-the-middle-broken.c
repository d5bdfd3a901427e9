// `memcpy` is not one step, and a local whose address another thread has is shared, too.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
#include <string.h>
struct pair {
  long a, b;
};
static void *reader(void *argument) {
  struct pair *seen = argument;
  long a = seen->a; //~ RACE
  long b = seen->b;
  assert(a == 0 || b == 1); //~ ERROR
  return 0;
}
int main(void) {
  struct pair shared = {0, 0}, one = {1, 1};
  pthread_t thread;
  pthread_create(&thread, 0, reader, &shared);
  memcpy(&shared, &one, sizeof shared); //~ RACE
  pthread_join(thread, 0);
  return 0;
}
