// Where no thread but the first performs atomic operations, their orders do not matter.
// expect: assertions=false
#include <assert.h>
#include <stdatomic.h>
int main(void) {
  atomic_int local = 1;
  int plain = 3;
  atomic_store_explicit(&local, 5, memory_order_relaxed);
  assert(atomic_load_explicit(&local, memory_order_relaxed) == 1); //~ ERROR
  assert(__sync_lock_test_and_set(&plain, 1) == 3);
  assert(__atomic_load_n(&plain, __ATOMIC_ACQUIRE) == 1);
  return 0;
}
