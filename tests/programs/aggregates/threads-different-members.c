// Two threads write different members of one struct without a race.
// expect: assertions=true races=true
#include <pthread.h>
struct pair { int a, b; } p;
void *f(void *arg) { (void)arg; p.a = 1; return 0; }
void *g(void *arg) { (void)arg; p.b = 2; return 0; }
int main(void) {
  pthread_t t, u;
  pthread_create(&t, 0, f, 0);
  pthread_create(&u, 0, g, 0);
  pthread_join(t, 0);
  pthread_join(u, 0);
  return 0;
}
