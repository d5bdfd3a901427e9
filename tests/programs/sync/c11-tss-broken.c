// The other thread does not see the value of main.
// expect: assertions=false races=true
#include <assert.h>
#include <threads.h>
tss_t key;
int x;
int f(void *arg) {
  (void)arg;
  return tss_get(key) != 0;
}
int main(void) {
  thrd_t t;
  int r;
  tss_create(&key, 0);
  tss_set(key, &x);
  thrd_create(&t, f, 0);
  thrd_join(t, &r);
  assert(r == 1); //~ ERROR
  assert(tss_get(key) == &x);
  tss_delete(key);
  return 0;
}
