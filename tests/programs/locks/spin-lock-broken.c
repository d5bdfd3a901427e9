// One thread forgets the spin lock.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
pthread_spinlock_t s;
int n;
void *f(void *arg) {
  (void)arg;
  pthread_spin_lock(&s);
  n++; //~ RACE
  pthread_spin_unlock(&s);
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_spin_init(&s, PTHREAD_PROCESS_PRIVATE);
  pthread_create(&t, 0, f, 0);
  n++; //~ RACE
  pthread_join(t, 0);
  pthread_spin_destroy(&s);
  assert(n == 2); //~ ERROR
  return 0;
}
