// A wait for a thread is known by its id.
// expect: assertions=true
// args: --engine states
#include <assert.h>
#include <pthread.h>
int a, b;
static void *set_a(void *unused) {
  a = 3;
  return 0;
}
static void *set_b(void *unused) {
  b = 4;
  return 0;
}
int main(void) {
  pthread_t first, second;
  pthread_create(&first, 0, set_a, 0);
  pthread_create(&second, 0, set_b, 0);
  pthread_join(second, 0);
  assert(b == 4);
  pthread_join(first, 0);
  assert(a == 3);
  return 0;
}
