// Both together leave the range.
// expect: overflow=false
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int x = INT_MAX - 1;
static void *work(void *p) { x++; return 0; } //~ ERROR
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  x++;
  pthread_join(t, 0);
  return 0;
}
