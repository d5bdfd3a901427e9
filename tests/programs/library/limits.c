// A limit stays the same, and is no greater than the greatest one.
// expect: assertions=true
// args: --engine horn
#include <assert.h>
#include <sys/resource.h>
int main(void) {
  struct rlimit before, after;
  if (getrlimit(RLIMIT_NOFILE, &before) < 0 || getrlimit(RLIMIT_NOFILE, &after) < 0)
    return 1;
  assert(before.rlim_cur == after.rlim_cur && before.rlim_cur <= after.rlim_max);
  return 0;
}
