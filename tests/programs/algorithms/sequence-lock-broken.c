// The writer forgets to make the sequence number odd.
// expect: assertions=false races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_uint seq;
atomic_int a, b;
void *writer(void *arg) {
  (void)arg;
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
    assert(x == y); //~ ERROR
  pthread_join(t, 0);
  return 0;
}
