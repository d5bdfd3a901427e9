// __CPROVER_atomic_begin and end bound an atomic region, __CPROVER_assert checks.
// expect: assertions=true races=true
#include <pthread.h>
extern void __CPROVER_atomic_begin(void);
extern void __CPROVER_atomic_end(void);
extern void __CPROVER_assert(_Bool, const char *);
int n;
void *f(void *arg) {
  (void)arg;
  __CPROVER_atomic_begin();
  n = n + 1;
  __CPROVER_atomic_end();
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, f, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  __CPROVER_assert(n == 2, "both counted");
  return 0;
}
