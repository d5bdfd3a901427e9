// Two threads that only read a variable do not race.
// expect: assertions=true races=true
#include <pthread.h>
int x = 1, a, b;
void *f(void *arg) { (void)arg; a = x; return 0; }
void *g(void *arg) { (void)arg; b = x; return 0; }
int main(void) {
  pthread_t t, u;
  pthread_create(&t, 0, f, 0);
  pthread_create(&u, 0, g, 0);
  pthread_join(t, 0);
  pthread_join(u, 0);
  return a + b;
}
