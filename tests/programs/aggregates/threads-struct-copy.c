// A whole struct is copied under the lock of its writer.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
struct pair { int a, b; } p;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *writer(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m);
  p.a = 1;
  p.b = 1;
  pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, writer, 0);
  pthread_mutex_lock(&m);
  struct pair copy = p;
  pthread_mutex_unlock(&m);
  assert(copy.a == copy.b);
  pthread_join(t, 0);
  return 0;
}
