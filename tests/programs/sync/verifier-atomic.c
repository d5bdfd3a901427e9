// An atomic region keeps two variables equal for another atomic region.
// expect: assertions=true races=true
extern void abort(void);
void reach_error(void) { }
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
#include <pthread.h>
int a, b;
void *f(void *arg) {
  (void)arg;
  __VERIFIER_atomic_begin();
  a++;
  b++;
  __VERIFIER_atomic_end();
  return 0;
}
int main(void) {
  pthread_t t;
  int x, y;
  pthread_create(&t, 0, f, 0);
  __VERIFIER_atomic_begin();
  x = a;
  y = b;
  __VERIFIER_atomic_end();
  if (x != y)
    reach_error();
  pthread_join(t, 0);
  return 0;
}
