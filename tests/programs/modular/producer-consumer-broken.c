// A producer takes one place too many.
// expect: assertions=false races=true
// args: --engine horn
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
#define SIZE 4
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int count;
static void *producer(void *unused) {
  while (__VERIFIER_nondet_int()) {
    pthread_mutex_lock(&m);
    if (count <= SIZE) count = count + 1;
    assert(count <= SIZE); //~ ERROR
    pthread_mutex_unlock(&m);
  }
  return unused;
}
static void *consumer(void *unused) {
  while (__VERIFIER_nondet_int()) {
    pthread_mutex_lock(&m);
    if (count > 0) count = count - 1;
    assert(count >= 0); //~ ERROR
    pthread_mutex_unlock(&m);
  }
  return unused;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int()) {
    pthread_create(&t, 0, producer, 0);
    pthread_create(&t, 0, consumer, 0);
  }
  return 0;
}
