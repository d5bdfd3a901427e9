/* Read before every file. The typed tree drops what these builtins say about memory orders: an order that is not a
   constant, the difference between consume and acquire, the order of a failure, and whether an exchange is weak.
   `__threadproof_order` says it again, just before the operation. The tree also drops the order of a fence, and the
   object of a question about locks: they are evaluated here. */
void __threadproof_order(int order);
void __threadproof_orders(int weak, int success, int failure);
#define __atomic_thread_fence(order) ((void)(order), __atomic_thread_fence(order))
#define __atomic_signal_fence(order) ((void)(order), __atomic_signal_fence(order))
#define __atomic_is_lock_free(size, object) ((void)(object), __atomic_is_lock_free(size, object))
#define __atomic_load_n(object, order) \
  (__threadproof_order(order), __atomic_load_n(object, order))
#define __atomic_load(object, target, order) \
  (__threadproof_order(order), __atomic_load(object, target, order))
#define __atomic_store_n(object, value, order) \
  (__threadproof_order(order), __atomic_store_n(object, value, order))
#define __atomic_store(object, value, order) \
  (__threadproof_order(order), __atomic_store(object, value, order))
#define __atomic_exchange_n(object, value, order) \
  (__threadproof_order(order), __atomic_exchange_n(object, value, order))
#define __atomic_exchange(object, value, target, order) \
  (__threadproof_order(order), __atomic_exchange(object, value, target, order))
#define __atomic_compare_exchange_n(object, expected, desired, weak, success, failure) \
  (__threadproof_orders(weak, success, failure), \
   __atomic_compare_exchange_n(object, expected, desired, weak, success, failure))
#define __atomic_compare_exchange(object, expected, desired, weak, success, failure) \
  (__threadproof_orders(weak, success, failure), \
   __atomic_compare_exchange(object, expected, desired, weak, success, failure))
#define __atomic_test_and_set(object, order) \
  (__threadproof_order(order), __atomic_test_and_set(object, order))
#define __atomic_clear(object, order) \
  (__threadproof_order(order), __atomic_clear(object, order))
#define __atomic_fetch_add(object, value, order) \
  (__threadproof_order(order), __atomic_fetch_add(object, value, order))
#define __atomic_fetch_sub(object, value, order) \
  (__threadproof_order(order), __atomic_fetch_sub(object, value, order))
#define __atomic_fetch_and(object, value, order) \
  (__threadproof_order(order), __atomic_fetch_and(object, value, order))
#define __atomic_fetch_or(object, value, order) \
  (__threadproof_order(order), __atomic_fetch_or(object, value, order))
#define __atomic_fetch_xor(object, value, order) \
  (__threadproof_order(order), __atomic_fetch_xor(object, value, order))
#define __atomic_fetch_nand(object, value, order) \
  (__threadproof_order(order), __atomic_fetch_nand(object, value, order))
#define __atomic_add_fetch(object, value, order) \
  (__threadproof_order(order), __atomic_add_fetch(object, value, order))
#define __atomic_sub_fetch(object, value, order) \
  (__threadproof_order(order), __atomic_sub_fetch(object, value, order))
#define __atomic_and_fetch(object, value, order) \
  (__threadproof_order(order), __atomic_and_fetch(object, value, order))
#define __atomic_or_fetch(object, value, order) \
  (__threadproof_order(order), __atomic_or_fetch(object, value, order))
#define __atomic_xor_fetch(object, value, order) \
  (__threadproof_order(order), __atomic_xor_fetch(object, value, order))
#define __atomic_nand_fetch(object, value, order) \
  (__threadproof_order(order), __atomic_nand_fetch(object, value, order))
