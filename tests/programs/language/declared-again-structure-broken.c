// The same for a structure in a thread, with a jump back to its declaration.
// expect: assertions=false races=true
#include <assert.h>
#include <pthread.h>
struct pair {
  int x, y;
};
static void *worker(void *unused) {
  int again = 0;
repeat:;
  struct pair p;
  if (again)
    assert(p.y == 7); //~ ERROR
  p.y = 7;
  if (!again) {
    again = 1;
    goto repeat;
  }
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, worker, 0);
  pthread_join(t, 0);
  return 0;
}
