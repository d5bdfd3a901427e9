// Writers of a read-write lock exclude the readers.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
int a, b;
void *writer(void *arg) {
  (void)arg;
  pthread_rwlock_wrlock(&l);
  a = 1;
  b = 1;
  pthread_rwlock_unlock(&l);
  return 0;
}
void *reader(void *arg) {
  (void)arg;
  pthread_rwlock_rdlock(&l);
  int x = a;
  int y = b;
  pthread_rwlock_unlock(&l);
  assert(x == y);
  return 0;
}
int main(void) {
  pthread_t t, u;
  pthread_create(&t, 0, writer, 0);
  pthread_create(&u, 0, reader, 0);
  pthread_join(t, 0);
  pthread_join(u, 0);
  return 0;
}
