// A producer hands over rising numbers through one slot; the consumer sees each once, without a bound on how many.
// expect: assertions=true races=true
// args: --engine horn
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
extern int __VERIFIER_nondet_int(void);
atomic_int full;
int slot;
static void *produce(void *unused) {
  int next = 0;
  while (next < 1000000) {
    while (full) {
    }
    slot = next++;
    full = 1;
  }
  return 0;
}
int main(void) {
  pthread_t a;
  int expected = 0;
  pthread_create(&a, 0, produce, 0);
  while (__VERIFIER_nondet_int() && expected < 1000000) {
    while (!full) {
    }
    assert(slot == expected);
    expected++;
    full = 0;
  }
  return 0;
}
