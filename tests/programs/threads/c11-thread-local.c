// _Thread_local static variables start from their initialiser in every thread.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
static _Thread_local int n = 10;
static int next(void) {
  static _Thread_local int calls;
  n++;
  return ++calls;
}
void *f(void *arg) {
  (void)arg;
  assert(next() == 1 && next() == 2 && n == 12);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  int r = next();
  pthread_join(t, 0);
  assert(r == 1);
  assert(n == 11);
  return 0;
}
