// The function runs once, not twice.
// expect: assertions=false races=true
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
  assert(r == 2); //~ ERROR
  assert(n == 1);
  return 0;
}
