// Wrapper functions around lock and unlock protect a counter in two threads.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
int n;
static void enter(pthread_mutex_t *l) { pthread_mutex_lock(l); }
static void leave(pthread_mutex_t *l) { pthread_mutex_unlock(l); }
static void add(pthread_mutex_t *l) {
  enter(l);
  n++;
  leave(l);
}
void *f(void *arg) { add(arg); return 0; }
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, f, &m);
  pthread_create(&b, 0, f, &m);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(n == 2);
  return 0;
}
