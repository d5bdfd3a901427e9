// The first thread asks for its own id: whoever joins that waits for ever.
// expect: deadlock=false
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
int count;
void *f(void *arg) {
  (void)arg;
  pthread_mutex_lock(&a);
  count++;
  pthread_mutex_unlock(&a);
  return 0;
}
int main(void) {
  pthread_t t, u = pthread_self();
  pthread_create(&t, 0, f, 0);
  if (__VERIFIER_nondet_int())
    pthread_create(&u, 0, f, 0);
  pthread_join(u, 0);
  pthread_join(t, 0);
  return 0;
}
