/* Found before the system's own: cleanup handlers are kept in a list of the thread instead of on its stack. */
#include_next <pthread.h>
#ifndef __THREADPROOF_PTHREAD_H
#define __THREADPROOF_PTHREAD_H
#ifdef pthread_cleanup_push
void __threadproof_cleanup_push(void (*)(void *), void *);
void __threadproof_cleanup_pop(int);
#undef pthread_cleanup_push
#define pthread_cleanup_push(routine, arg) \
  do {                                     \
    __threadproof_cleanup_push(routine, arg); \
    do {
#undef pthread_cleanup_pop
#define pthread_cleanup_pop(execute)     \
      do { } while (0);                  \
    } while (0);                         \
    __threadproof_cleanup_pop(execute);  \
  } while (0)
#undef pthread_cleanup_push_defer_np
#define pthread_cleanup_push_defer_np(routine, arg) pthread_cleanup_push(routine, arg)
#undef pthread_cleanup_pop_restore_np
#define pthread_cleanup_pop_restore_np(execute) pthread_cleanup_pop(execute)
#endif
#endif
