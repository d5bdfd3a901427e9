// A spin lock is taken once.
// expect: deadlock=true
#include <pthread.h>
pthread_spinlock_t s;
int main(void) {
  pthread_spin_init(&s, 0);
  pthread_spin_lock(&s);
  pthread_spin_unlock(&s);
  return 0;
}
