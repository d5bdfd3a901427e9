// A resource is taken away when no worker is inside and none comes, broken: a worker may come late.
// expect: races=false
// args: --engine context
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern _Bool __VERIFIER_nondet_bool(void);
int resource, stopping, inside;
void *worker(void *arg) {
  (void)arg;
  int in = 0;
  __VERIFIER_atomic_begin();
  in = !stopping && inside == 0;
  __VERIFIER_atomic_end();
  if (in) {
    __VERIFIER_atomic_begin();
    inside = 1;
    __VERIFIER_atomic_end();
  }
  if (in) {
    in = resource; //~ RACE
    __VERIFIER_atomic_begin();
    inside = 0;
    __VERIFIER_atomic_end();
  }
  return 0;
}
int main(void) {
  pthread_t t;
  int none;
  while (__VERIFIER_nondet_bool())
    pthread_create(&t, 0, worker, 0);
  __VERIFIER_atomic_begin();
  stopping = 1;
  __VERIFIER_atomic_end();
  __VERIFIER_atomic_begin();
  none = inside == 0;
  __VERIFIER_atomic_end();
  if (none)
    resource = 1; //~ RACE
  return 0;
}
