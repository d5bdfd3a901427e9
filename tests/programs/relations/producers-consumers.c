// What is produced and not yet consumed is never negative, and never more than there is room for.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
extern _Bool __VERIFIER_nondet_bool(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int produced, consumed;
void *produce(void *arg) {
  pthread_mutex_lock(&m);
  if (produced - consumed < 4)
    produced++;
  pthread_mutex_unlock(&m);
  return arg;
}
void *consume(void *arg) {
  pthread_mutex_lock(&m);
  if (consumed < produced)
    consumed++;
  pthread_mutex_unlock(&m);
  return arg;
}
void *look(void *arg) {
  pthread_mutex_lock(&m);
  assert(consumed <= produced);
  assert(produced - consumed <= 4);
  pthread_mutex_unlock(&m);
  return arg;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_bool()) {
    pthread_create(&t, 0, produce, 0);
    pthread_create(&t, 0, consume, 0);
    pthread_create(&t, 0, look, 0);
  }
  return 0;
}
