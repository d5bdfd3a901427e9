// call_once runs its function once.
// expect: assertions=true races=true
#include <assert.h>
#include <threads.h>
once_flag flag = ONCE_FLAG_INIT;
int n;
void init(void) { n++; }
int f(void *arg) {
  (void)arg;
  call_once(&flag, init);
  return n;
}
int main(void) {
  thrd_t t;
  int r;
  thrd_create(&t, f, 0);
  call_once(&flag, init);
  thrd_join(t, &r);
  assert(r == 1);
  assert(n == 1);
  return 0;
}
