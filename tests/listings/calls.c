// One function that is called from several places and threads, a structure, a pointer, code that never runs.
#include <assert.h>
#include <pthread.h>
struct account {
  int balance;
  int limit;
};
struct account first = {100, 10}, second = {200, 20};

static int clamp(int value, int most) {
  if (value > most)
    return most;
  return value;
}

static void charge(struct account *account, int amount) {
  int taken = clamp(amount, account->limit);
  assert(taken <= 20);
  account->balance = account->balance - taken;
}

void *worker(void *arg) {
  charge(&second, 30);
  return arg;
}

int main(void) {
  pthread_t thread;
  int mode = 1;
  charge(&first, 5);
  charge(&first, 50);
  pthread_create(&thread, 0, worker, 0);
  if (mode > 1) {
    charge(&second, 1);
  }
  pthread_join(thread, 0);
  assert(first.balance == 85);
  assert(second.balance == 180);
  return 0;
}
