// DUET (paper 4), Figure 1: producer and consumer, any number of each; the counter of the consumer is never negative.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern void __VERIFIER_assume(int);
extern _Bool __VERIFIER_nondet_bool(void);
pthread_mutex_t lock1 = PTHREAD_MUTEX_INITIALIZER, lock2 = PTHREAD_MUTEX_INITIALIZER;
int counter;
static int get(void) { __VERIFIER_atomic_begin(); int c = counter; __VERIFIER_atomic_end(); return c; }
static void add(int d) { __VERIFIER_atomic_begin(); counter += d; __VERIFIER_atomic_end(); }
static void reset(void) { __VERIFIER_atomic_begin(); counter = 0; __VERIFIER_atomic_end(); }
void *Producer(void *arg) {
  int batch = 1;
  (void)arg;
  pthread_mutex_lock(&lock2);
  pthread_mutex_lock(&lock1);
  if (get() > 0) {
    add(1);
    pthread_mutex_unlock(&lock1);
    pthread_mutex_unlock(&lock2);
    return 0;
  }
  pthread_mutex_unlock(&lock1);
  reset();
  while (batch > 0) {
    add(1);
    batch--;
  }
  pthread_mutex_unlock(&lock2);
  return 0;
}
void *Consumer(void *arg) {
  (void)arg;
  pthread_mutex_lock(&lock1);
  while (__VERIFIER_nondet_bool()) {
    pthread_mutex_unlock(&lock1);
    pthread_mutex_lock(&lock1);
  }
  __VERIFIER_assume(get() > 0);
  add(-1);
  assert(get() >= 0);
  pthread_mutex_unlock(&lock1);
  return 0;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool()) {
    pthread_create(&t, 0, Producer, 0);
    while (__VERIFIER_nondet_bool())
      pthread_create(&t, 0, Consumer, 0);
  }
  return 0;
}
