// Some signals belong to the library: glibc refuses to add them.
// todo: assertions=false
#include <assert.h>
#include <signal.h>
int main(void) {
  sigset_t set;
  sigemptyset(&set);
  assert(sigaddset(&set, 32) == 0);
  return 0;
}
