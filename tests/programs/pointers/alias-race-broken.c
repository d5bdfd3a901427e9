// Two pointers to the same variable race.
// expect: assertions=true races=false
#include <pthread.h>
int x, y;
int *p = &x, *q = &x;
void *f(void *arg) { (void)arg; *p = 1; return 0; } //~ RACE
void *g(void *arg) { (void)arg; *q = 2; return 0; } //~ RACE
int main(void) {
  pthread_t t, u;
  pthread_create(&t, 0, f, 0);
  pthread_create(&u, 0, g, 0);
  pthread_join(t, 0);
  pthread_join(u, 0);
  return 0;
}
