// mtx_trylock tells by thrd_success that the lock is held.
// expect: assertions=true races=true
#include <threads.h>
mtx_t m;
int n;
int f(void *arg) {
  (void)arg;
  if (mtx_trylock(&m) == thrd_success) {
    n++;
    mtx_unlock(&m);
  }
  return 0;
}
int main(void) {
  thrd_t a;
  mtx_init(&m, mtx_plain);
  thrd_create(&a, f, NULL);
  mtx_lock(&m);
  n++;
  mtx_unlock(&m);
  thrd_join(a, NULL);
  return 0;
}
