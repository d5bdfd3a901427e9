// C11 thread-specific storage.
// expect: assertions=true races=true
#include <assert.h>
#include <threads.h>
tss_t key;
int x;
int f(void *arg) {
  (void)arg;
  return tss_get(key) == 0;
}
int main(void) {
  thrd_t t;
  int r;
  tss_create(&key, 0);
  tss_set(key, &x);
  thrd_create(&t, f, 0);
  thrd_join(t, &r);
  assert(r == 1);
  assert(tss_get(key) == &x);
  tss_delete(key);
  return 0;
}
