// Whichever signal of the set arrives, there is a lock.
// expect: races=true
#include <pthread.h>
#include <signal.h>
static sigset_t set;
static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *waiter(void *unused) {
  int number;
  sigwait(&set, &number);
  pthread_mutex_lock(&lock);
  if (number == SIGUSR1)
    shared = 1;
  pthread_mutex_unlock(&lock);
  return 0;
}
int main(void) {
  pthread_t one;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, 0);
  pthread_create(&one, 0, waiter, 0);
  pthread_mutex_lock(&lock);
  shared = 2;
  pthread_mutex_unlock(&lock);
  pthread_join(one, 0);
  return 0;
}
