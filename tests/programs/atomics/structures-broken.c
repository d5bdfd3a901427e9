// Half of a plain structure can be seen.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
struct pair {
  int left, right;
};
struct pair shared;
void *f(void *arg) {
  (void)arg;
  shared = (struct pair){1, 1}; //~ RACE
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  struct pair copy = shared; //~ RACE
  assert(copy.left == copy.right); //~ ERROR
  pthread_join(t, 0);
  return 0;
}
