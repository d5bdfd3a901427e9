// The reader is not in an atomic region.
// expect: assertions=false races=false
extern void abort(void);
void reach_error(void) { }
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
#include <pthread.h>
int a, b;
void *f(void *arg) {
  (void)arg;
  __VERIFIER_atomic_begin();
  a++; //~ RACE
  b++; //~ RACE
  __VERIFIER_atomic_end();
  return 0;
}
int main(void) {
  pthread_t t;
  int x, y;
  pthread_create(&t, 0, f, 0);
  x = a; //~ RACE
  y = b; //~ RACE
  if (x != y)
    reach_error(); //~ ERROR
  pthread_join(t, 0);
  return 0;
}
