// A time has less than a second in its second part.
// expect: assertions=true
#include <assert.h>
#include <sys/time.h>
int main(void) {
  struct timeval now;
  gettimeofday(&now, 0);
  assert(now.tv_sec >= 0 && now.tv_usec >= 0 && now.tv_usec < 1000000);
  return 0;
}
