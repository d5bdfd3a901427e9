// DUET (paper 4), Figure 1 with one producer and one consumer, broken: u10 resets the counter after the batch has begun.
// expect: assertions=false races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
extern void __VERIFIER_assume(int);
pthread_mutex_t lock1 = PTHREAD_MUTEX_INITIALIZER, lock2 = PTHREAD_MUTEX_INITIALIZER;
atomic_int counter;
void *Producer(void *arg) {
  int batch = 2;
  (void)arg;
  pthread_mutex_lock(&lock2);
  pthread_mutex_lock(&lock1);
  if (counter > 0) {
    counter++;
    pthread_mutex_unlock(&lock1);
    pthread_mutex_unlock(&lock2);
    return 0;
  }
  pthread_mutex_unlock(&lock1);
  while (batch > 0) {
    counter++;
    counter = 0;
    batch--;
  }
  pthread_mutex_unlock(&lock2);
  return 0;
}
void *Consumer(void *arg) {
  (void)arg;
  pthread_mutex_lock(&lock1);
  int c = counter;
  __VERIFIER_assume(c > 0);
  counter--;
  assert(counter >= 0); //~ ERROR
  pthread_mutex_unlock(&lock1);
  return 0;
}
int main(void) {
  pthread_t p, c;
  pthread_create(&p, 0, Producer, 0);
  pthread_create(&c, 0, Consumer, 0);
  pthread_join(p, 0);
  pthread_join(c, 0);
  return 0;
}
