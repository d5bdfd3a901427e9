// The time is stored in the second half of an object.
// expect: bounds=false
#include <time.h>
int main(void) {
  int x[2] = { 0, 0 };
  time((time_t *)((char *)x + 4)); //~ ERROR
  return 0;
}
