// An element just after an array is the next member, whatever engine is asked.
// expect: assertions=false
// args: --engine horn
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
struct {
  int low[2];
  int high;
} s;
void *other(void *arg) { return 0; }
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, other, 0);
  int i = __VERIFIER_nondet_int();
  if (i < 0 || i > 2)
    return 0;
  s.low[i] = 1;
  assert(s.high == 0); //~ ERROR
  return 0;
}
