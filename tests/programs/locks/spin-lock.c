// A spin lock protects a counter.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
pthread_spinlock_t s;
int n;
void *f(void *arg) {
  (void)arg;
  pthread_spin_lock(&s);
  n++;
  pthread_spin_unlock(&s);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_spin_init(&s, PTHREAD_PROCESS_PRIVATE);
  pthread_create(&t, 0, f, 0);
  pthread_spin_lock(&s);
  n++;
  pthread_spin_unlock(&s);
  pthread_join(t, 0);
  pthread_spin_destroy(&s);
  assert(n == 2);
  return 0;
}
