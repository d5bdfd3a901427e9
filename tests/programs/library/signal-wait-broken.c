// Any signal of the set may arrive.
// expect: races=false
#include <pthread.h>
#include <signal.h>
static sigset_t set;
static int shared;
static void *waiter(void *unused) {
  int number;
  sigwait(&set, &number);
  if (number == SIGUSR1)
    shared = 1; //~ RACE
  return 0;
}
int main(void) {
  pthread_t one;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, 0);
  pthread_create(&one, 0, waiter, 0);
  shared = 2; //~ RACE
  pthread_join(one, 0);
  return 0;
}
