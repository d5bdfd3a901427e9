/* Found before the compiler's own, and changes two things in it. */
#include_next <stdatomic.h>
#ifndef __THREADPROOF_STDATOMIC_H
#define __THREADPROOF_STDATOMIC_H
/* Initialisation is no atomic operation (C11 7.17.2.2). */
#undef atomic_init
#define atomic_init(object, value) ((void)(*(__typeof__((void)0, *(object)) *)(object) = (value)))
/* C11 moves a pointer by elements, compilers move it by bytes. */
void __threadproof_generic_update(const volatile void *);
#undef atomic_fetch_add_explicit
#define atomic_fetch_add_explicit(object, operand, order) \
  __extension__({                                         \
    __auto_type __rucc_obj = (object);                    \
    __threadproof_generic_update(__rucc_obj);             \
    __atomic_fetch_add(__rucc_obj, operand, order);       \
  })
#undef atomic_fetch_sub_explicit
#define atomic_fetch_sub_explicit(object, operand, order) \
  __extension__({                                         \
    __auto_type __rucc_obj = (object);                    \
    __threadproof_generic_update(__rucc_obj);             \
    __atomic_fetch_sub(__rucc_obj, operand, order);       \
  })
#endif
