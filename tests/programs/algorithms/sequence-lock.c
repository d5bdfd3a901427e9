// A sequence lock lets the reader notice a concurrent write.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_uint seq;
atomic_int a, b;
void *writer(void *arg) {
  (void)arg;
  seq++;
  a = 1;
  b = 1;
  seq++;
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, writer, 0);
  unsigned s = seq;
  int x = a, y = b;
  if (s % 2 == 0 && s == seq)
    assert(x == y);
  pthread_join(t, 0);
  return 0;
}
