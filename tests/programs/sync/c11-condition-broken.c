// C11 condition variable waited for without a loop.
// expect: assertions=false races=true
#include <assert.h>
#include <threads.h>
mtx_t m;
cnd_t c;
int ready;
int f(void *arg) {
  (void)arg;
  mtx_lock(&m);
  if (!ready)
    cnd_wait(&c, &m);
  assert(ready == 1); //~ ERROR
  mtx_unlock(&m);
  return 0;
}
int main(void) {
  thrd_t t;
  mtx_init(&m, mtx_plain);
  cnd_init(&c);
  thrd_create(&t, f, 0);
  mtx_lock(&m);
  ready = 1;
  cnd_signal(&c);
  mtx_unlock(&m);
  thrd_join(t, 0);
  return 0;
}
