// Thread-specific data has one value per thread and key.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
pthread_key_t key;
int a, b;
void *f(void *arg) {
  (void)arg;
  assert(pthread_getspecific(key) == 0);
  pthread_setspecific(key, &b);
  assert(pthread_getspecific(key) == &b);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_key_create(&key, 0);
  pthread_setspecific(key, &a);
  pthread_create(&t, 0, f, 0);
  pthread_join(t, 0);
  assert(pthread_getspecific(key) == &a);
  return 0;
}
