// A process can always ask for itself.
// todo: assertions=true
#include <assert.h>
#include <signal.h>
#include <unistd.h>
int main(void) {
  assert(kill(getpid(), 0) == 0);
  return 0;
}
