// A copy of a structure is not one step: half of the old and half of the new one is seen.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
#include <string.h>
struct large {
  int cell[12];
};
static struct large shared;
static void *writer(void *unused) {
  struct large one;
  for (int i = 0; i < 12; i++)
    one.cell[i] = 1;
  shared = one; //~ RACE
  return unused;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, writer, 0);
  int first = shared.cell[0]; //~ RACE
  int last = shared.cell[11];
  assert(first == 0 || last == 1); //~ ERROR
  pthread_join(thread, 0);
  return 0;
}
