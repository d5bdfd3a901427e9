// C11 threads with mtx_lock.
// expect: assertions=true races=true
#include <assert.h>
#include <threads.h>
mtx_t m;
int n;
int f(void *arg) {
  (void)arg;
  mtx_lock(&m);
  n++;
  mtx_unlock(&m);
  return 4;
}
int main(void) {
  thrd_t a, b;
  int r;
  mtx_init(&m, mtx_plain);
  thrd_create(&a, f, NULL);
  thrd_create(&b, f, NULL);
  thrd_join(a, &r);
  thrd_join(b, NULL);
  mtx_destroy(&m);
  assert(r == 4);
  assert(n == 2);
  return 0;
}
