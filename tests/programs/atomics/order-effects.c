// What an argument for a memory order does happens once, whatever the operation.
// expect: assertions=true races=true
#include <assert.h>
#include <stdatomic.h>
static int calls;
static _Atomic int cell;
static atomic_flag flag = ATOMIC_FLAG_INIT;
static int plain;
static memory_order order(void) {
  calls++;
  return memory_order_seq_cst;
}
int main(void) {
  int expected = 0;
  atomic_thread_fence(order());
  atomic_signal_fence(order());
  assert(calls == 2);
  atomic_store_explicit(&cell, 1, order());
  assert(atomic_load_explicit(&cell, order()) == 1);
  assert(calls == 4);
  atomic_fetch_add_explicit(&cell, 1, order());
  atomic_flag_test_and_set_explicit(&flag, order());
  __atomic_store_n(&plain, 1, order());
  assert(calls == 7);
  atomic_compare_exchange_strong_explicit(&cell, &expected, 3, order(), order());
  assert(calls == 9 && expected == 2);
  assert(atomic_is_lock_free((calls++, &cell)) && calls == 10);
  return 0;
}
