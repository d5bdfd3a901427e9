// The last index is one too many.
// expect: deref=false
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
struct account {
  int amount;
  pthread_mutex_t lock;
} accounts[10];
void *pay(void *argument) {
  int index = __VERIFIER_nondet_int();
  if (index < 0 || index > 10) return 0;
  struct account *account = &accounts[index];
  index++;
  pthread_mutex_lock(&account->lock); //~ ERROR
  account->amount++; //~ ERROR
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
