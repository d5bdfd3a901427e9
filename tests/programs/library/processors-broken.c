// expect: assertions=false
#include <assert.h>
#include <unistd.h>
int main(void) {
  assert(sysconf(_SC_NPROCESSORS_ONLN) <= 8); //~ ERROR
  return 0;
}
