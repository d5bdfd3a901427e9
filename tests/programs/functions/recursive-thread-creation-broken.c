// The recursion of two threads counts three each.
// expect: assertions=false races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int n;
static void count(int k) {
  if (k == 0)
    return;
  n++;
  count(k - 1);
}
void *f(void *arg) { (void)arg; count(3); return 0; }
int main(void) {
  pthread_t a;
  pthread_create(&a, 0, f, 0);
  count(3);
  pthread_join(a, 0);
  assert(n == 3); //~ ERROR
  return 0;
}
