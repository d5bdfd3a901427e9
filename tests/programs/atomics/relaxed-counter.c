// A counter that orders nothing, beside data that a mutex protects.
// expect: races=true
// todo: assertions=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
atomic_int calls;
int data;
void *f(void *arg) {
  (void)arg;
  atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
  pthread_mutex_lock(&m);
  data++;
  pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  f(0);
  pthread_join(t, 0);
  assert(data == 2 && atomic_load_explicit(&calls, memory_order_relaxed) == 2);
  return 0;
}
