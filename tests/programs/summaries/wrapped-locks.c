// A lock that functions take and give back, in an object that a pointer leads to: each function's summary says which lock it takes and gives back.
// expect: races=true
// args: --engine summaries
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
  account->balance += amount;
  unlock(account);
}

void *payer(void *argument) {
  add(argument, -1);
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
