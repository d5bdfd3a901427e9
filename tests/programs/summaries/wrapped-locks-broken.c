// As wrapped-locks.c, but one thread gives the lock back too early.
// expect: races=false
#include <pthread.h>
#include <stdlib.h>

struct account {
  pthread_mutex_t mutex;
  int balance;
};

void lock(struct account *account) { pthread_mutex_lock(&account->mutex); }
void unlock(struct account *account) { pthread_mutex_unlock(&account->mutex); }

struct account *make(int balance) {
  struct account *account = malloc(sizeof *account);
  pthread_mutex_init(&account->mutex, 0);
  account->balance = balance;
  return account;
}

void add(struct account *account, int amount) {
  lock(account);
  account->balance += amount; //~ RACE
  unlock(account);
}

void *payer(void *argument) {
  struct account *account = argument;
  lock(account);
  unlock(account);
  account->balance -= 1; //~ RACE
  return 0;
}

int main(void) {
  pthread_t thread;
  struct account *account = make(10);
  pthread_create(&thread, 0, payer, account);
  add(account, 1);
  pthread_join(thread, 0);
  return account->balance;
}
