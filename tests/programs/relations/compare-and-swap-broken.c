// The swap does not compare.
// expect: assertions=false
#include <assert.h>
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern _Bool __VERIFIER_nondet_bool(void);
unsigned counter;
static _Bool swap(unsigned expected, unsigned wanted) {
  _Bool same = 0;
  __VERIFIER_atomic_begin();
  if (counter == expected || 1) {
    counter = wanted;
    same = 1;
  }
  __VERIFIER_atomic_end();
  return same;
}
static unsigned get(void) {
  __VERIFIER_atomic_begin();
  unsigned now = counter;
  __VERIFIER_atomic_end();
  return now;
}
void *raise_it(void *arg) {
  unsigned seen;
  do {
    seen = get();
    if (seen == 0u - 1)
      return arg;
  } while (!swap(seen, seen + 1));
  assert(get() > seen); //~ ERROR
  return arg;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool())
    pthread_create(&t, 0, raise_it, 0);
  return 0;
}
