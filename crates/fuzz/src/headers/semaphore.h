/* What random programs use of it. */
#ifndef FUZZ_SEMAPHORE_H
#define FUZZ_SEMAPHORE_H
#include <time.h>
typedef union { char __size[32]; long int __align; } sem_t;
extern int sem_init(sem_t *, int, unsigned int);
extern int sem_destroy(sem_t *);
extern int sem_wait(sem_t *);
extern int sem_timedwait(sem_t *, const struct timespec *);
extern int sem_trywait(sem_t *);
extern int sem_post(sem_t *);
extern int sem_getvalue(sem_t *, int *);
#endif
