// The worker holds the lock from looking at the balance until it has taken from it.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int balance = 1000003;
static void *take(void *unused) {
  int amount = __VERIFIER_nondet_int();
  if (amount <= 0)
    return 0;
  pthread_mutex_lock(&lock);
  if (balance >= amount) {
    balance -= amount;
    assert(balance >= 0);
  }
  pthread_mutex_unlock(&lock);
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, take, 0);
  pthread_create(&b, 0, take, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
