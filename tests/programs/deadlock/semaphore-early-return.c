// A thread that returns early posts first.
// expect: deadlock=true
#include <pthread.h>
#include <semaphore.h>
extern int __VERIFIER_nondet_int(void);
sem_t s;
int n;
void *f(void *arg) {
  (void)arg;
  sem_wait(&s);
  if (__VERIFIER_nondet_int()) {
    sem_post(&s);
    return 0;
  }
  n++;
  sem_post(&s);
  return 0;
}
int main(void) {
  pthread_t t, u;
  sem_init(&s, 0, 1);
  pthread_create(&t, 0, f, 0);
  pthread_create(&u, 0, f, 0);
  pthread_join(t, 0);
  pthread_join(u, 0);
  return 0;
}
