// Some signals belong to the library, which may refuse to add them: nothing is said of these.
// todo: assertions=true
#include <assert.h>
#include <signal.h>
int main(void) {
  sigset_t set;
  sigemptyset(&set);
  assert(sigaddset(&set, 32) == -1 && sigismember(&set, 33) == 0);
  return 0;
}
