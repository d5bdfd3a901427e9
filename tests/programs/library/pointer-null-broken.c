// The time to wait for has to be there.
// expect: bounds=false assertions=true
#include <time.h>
int main(void) {
  struct timespec *pause = 0;
  nanosleep(pause, 0); //~ ERROR
  return 0;
}
