// Accesses are ordered by the join.
// expect: assertions=true races=true
#include <pthread.h>
volatile int x;
void *f(void *arg) { (void)arg; x = 1; return 0; }
int main(void) {
  pthread_t t;
  int r = 0;
  pthread_create(&t, 0, f, 0);
  pthread_join(t, 0);
  r = x;
  return r;
}
