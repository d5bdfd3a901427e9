// A pointer into an array is known by the index that it was computed from, also when that is not read again.
// expect: deref=true
// args: --engine flow
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
struct account {
  int amount;
  pthread_mutex_t lock;
} accounts[10];
void *pay(void *argument) {
  int index = __VERIFIER_nondet_int();
  if (index < 0 || index >= 10) return 0;
  struct account *account = &accounts[index];
  index++;
  pthread_mutex_lock(&account->lock);
  account->amount++;
  pthread_mutex_unlock(&account->lock);
  return 0;
}
int main(void) {
  for (int i = 0; i < 10; i++) pthread_mutex_init(&accounts[i].lock, 0);
  pthread_t id;
  pthread_create(&id, 0, pay, 0);
  pthread_join(id, 0);
  return 0;
}
