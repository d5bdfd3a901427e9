// What the other thread needs the lock for does not happen while it is held.
// expect: assertions=true
#include <assert.h>
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int asked, answered;
void *answer(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m);
  __VERIFIER_atomic_begin();
  if (asked)
    answered = 1;
  __VERIFIER_atomic_end();
  pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, answer, 0);
  int seen;
  __VERIFIER_atomic_begin();
  asked = 1;
  pthread_mutex_lock(&m);
  __VERIFIER_atomic_end();
  __VERIFIER_atomic_begin();
  seen = answered;
  __VERIFIER_atomic_end();
  pthread_mutex_unlock(&m);
  assert(seen == 0);
  return 0;
}
