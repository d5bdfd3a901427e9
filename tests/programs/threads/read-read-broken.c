// A thread reads while the other one writes.
// expect: assertions=true races=false
#include <pthread.h>
int x = 1, a, b;
void *f(void *arg) { (void)arg; a = x; return 0; } //~ RACE
void *g(void *arg) { (void)arg; x = 2; return 0; } //~ RACE
int main(void) {
  pthread_t t, u;
  pthread_create(&t, 0, f, 0);
  pthread_create(&u, 0, g, 0);
  pthread_join(t, 0);
  pthread_join(u, 0);
  return a + b;
}
