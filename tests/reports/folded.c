// A long way of one thread alone, and a lost update.
#include <assert.h>
#include <pthread.h>

int total;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *worker(void *unused) {
  int a = 1;
  int b = a + 1;
  int c = a + b;
  int d = b + c;
  int e = c + d;
  int f = d + e;
  int g = e + f;
  pthread_mutex_lock(&lock);
  int seen = total;
  pthread_mutex_unlock(&lock);
  pthread_mutex_lock(&lock);
  total = seen + g;
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t one, other;
  pthread_create(&one, 0, worker, 0);
  pthread_create(&other, 0, worker, 0);
  pthread_join(one, 0);
  pthread_join(other, 0);
  assert(total == 42);
  return 0;
}
