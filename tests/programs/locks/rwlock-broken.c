// A thread that holds the lock only for reading writes.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
int a, b;
void *writer(void *arg) {
  (void)arg;
  pthread_rwlock_rdlock(&l);
  a = 1; //~ RACE
  b = 1; //~ RACE
  pthread_rwlock_unlock(&l);
  return 0;
}
void *reader(void *arg) {
  (void)arg;
  pthread_rwlock_rdlock(&l);
  int x = a; //~ RACE
  int y = b; //~ RACE
  pthread_rwlock_unlock(&l);
  assert(x == y); //~ ERROR
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
