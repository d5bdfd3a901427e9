// A library function takes its argument for what a cast says it is.
// expect: bounds=true
#include <time.h>
int main(void) {
  int x[2] = { 0x01010101, 0 };
  time((time_t *)(char *)x);
  return 0;
}
