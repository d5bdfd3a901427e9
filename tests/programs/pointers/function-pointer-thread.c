// The start routine of a thread comes from a table of functions.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
int x, y;
static void *set_x(void *arg) { (void)arg; x = 1; return 0; }
static void *set_y(void *arg) { (void)arg; y = 1; return 0; }
static void *(*table[2])(void *) = {set_x, set_y};
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, table[1], 0);
  pthread_join(t, 0);
  assert(x == 0 && y == 1);
  return 0;
}
