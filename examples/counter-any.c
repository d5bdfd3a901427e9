// Any number of threads count up to a limit, under a lock.
#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

int counter;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *worker(void *unused) {
  pthread_mutex_lock(&lock);
  if (counter < 10)
    counter = counter + 1;
  assert(counter <= 10);
  pthread_mutex_unlock(&lock);
  return unused;
}

int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int())
    pthread_create(&t, 0, worker, 0);
  return 0;
}
