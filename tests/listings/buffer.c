// Any number of producers and consumers share a buffer; a lock protects it.
#include <assert.h>
#include <pthread.h>
#define SIZE 10
extern int __VERIFIER_nondet_int(void);
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int buffer[SIZE];
int count;

void *producer(void *arg) {
  int item = __VERIFIER_nondet_int();
  if (item == 0)
    return 0;
  pthread_mutex_lock(&lock);
  if (count < SIZE) {
    assert(count >= 0);
    buffer[count] = 1;
    count = count + 1;
  }
  pthread_mutex_unlock(&lock);
  return arg;
}

void *consumer(void *arg) {
  int item;
  pthread_mutex_lock(&lock);
  if (count > 0) {
    count = count - 1;
    assert(count < SIZE);
    item = buffer[count];
    assert(item <= 1);
  }
  pthread_mutex_unlock(&lock);
  return arg;
}

int main(void) {
  pthread_t thread;
  while (__VERIFIER_nondet_int()) {
    pthread_create(&thread, 0, producer, 0);
    pthread_create(&thread, 0, consumer, 0);
  }
  return 0;
}
