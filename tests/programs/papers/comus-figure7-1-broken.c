// CoMuS (paper 5), Figure 7.1, broken: the bound 15 is reached.
// expect: assertions=false races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int a = 1, b = 1, c = 1;
void *t1(void *arg) {
  (void)arg;
  for (int k1 = 0; k1 < 2; k1++)
    a += b;
  assert(a < 15); //~ ERROR
  return 0;
}
void *t2(void *arg) {
  (void)arg;
  for (int k2 = 0; k2 < 2; k2++)
    b += c;
  return 0;
}
void *t3(void *arg) {
  (void)arg;
  for (int k3 = 0; k3 < 2; k3++)
    c += a;
  return 0;
}
int main(void) {
  pthread_t x, y, z;
  pthread_create(&x, 0, t1, 0);
  pthread_create(&y, 0, t2, 0);
  pthread_create(&z, 0, t3, 0);
  pthread_join(x, 0);
  pthread_join(y, 0);
  pthread_join(z, 0);
  return 0;
}
