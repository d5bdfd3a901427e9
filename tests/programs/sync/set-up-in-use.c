// All objects are set up before the thread starts and destroyed after it is joined.
// expect: assertions=true races=true deadlock=true
#include <pthread.h>
#include <semaphore.h>
sem_t s;
pthread_mutex_t m;
pthread_cond_t c;
pthread_barrier_t b;
pthread_rwlock_t l;
pthread_spinlock_t p;
int n;
void *f(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m);
  n = 1;
  pthread_cond_signal(&c);
  pthread_mutex_unlock(&m);
  sem_post(&s);
  pthread_barrier_wait(&b);
  pthread_rwlock_rdlock(&l);
  pthread_rwlock_unlock(&l);
  pthread_spin_lock(&p);
  pthread_spin_unlock(&p);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_attr_t a;
  sem_init(&s, 0, 0);
  pthread_mutex_init(&m, 0);
  pthread_cond_init(&c, 0);
  pthread_barrier_init(&b, 0, 2);
  pthread_rwlock_init(&l, 0);
  pthread_spin_init(&p, 0);
  pthread_attr_init(&a);
  pthread_attr_setdetachstate(&a, PTHREAD_CREATE_JOINABLE);
  pthread_create(&t, &a, f, 0);
  pthread_attr_destroy(&a);
  pthread_mutex_lock(&m);
  while (n == 0)
    pthread_cond_wait(&c, &m);
  pthread_mutex_unlock(&m);
  sem_wait(&s);
  pthread_barrier_wait(&b);
  pthread_join(t, 0);
  sem_destroy(&s);
  pthread_mutex_destroy(&m);
  pthread_cond_destroy(&c);
  pthread_barrier_destroy(&b);
  pthread_rwlock_destroy(&l);
  pthread_spin_destroy(&p);
  return 0;
}
