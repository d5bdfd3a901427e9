// A set has the signals that were added.
// expect: assertions=true
#include <assert.h>
#include <signal.h>
int main(void) {
  sigset_t set;
  sigfillset(&set);
  assert(sigismember(&set, SIGTERM) == 1);
  sigdelset(&set, SIGTERM);
  assert(sigismember(&set, SIGTERM) == 0 && sigismember(&set, SIGINT) == 1);
  sigemptyset(&set);
  assert(sigaddset(&set, SIGINT) == 0 && sigaddset(&set, SIGUSR1) == 0);
  assert(sigaddset(&set, 0) == -1 && sigismember(&set, 65) == -1);
  return 0;
}
