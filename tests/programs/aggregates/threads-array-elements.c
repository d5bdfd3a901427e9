// Two threads write different elements of one array.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
int v[2];
void *f(void *arg) { (void)arg; v[0] = 1; return 0; }
void *g(void *arg) { (void)arg; v[1] = 2; return 0; }
int main(void) {
  pthread_t t, u;
  pthread_create(&t, 0, f, 0);
  pthread_create(&u, 0, g, 0);
  pthread_join(t, 0);
  pthread_join(u, 0);
  assert(v[1] == 2);
  return 0;
}
