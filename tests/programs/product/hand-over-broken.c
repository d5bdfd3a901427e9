// The consumer frees the slot before it reads it: it may see the next number, and there is a race.
// expect: assertions=false
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
    full = 0;
    assert(slot == expected); //~ ERROR
    expected++;
  }
  return 0;
}
