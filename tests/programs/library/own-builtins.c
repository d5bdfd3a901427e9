// A program's own functions count, also where compilers expand calls of such a name.
// expect: assertions=true
#include <assert.h>
static int calls;
int abs(int number) {
  calls++;
  return number + 1;
}
double fabs(double number) {
  calls++;
  return number;
}
double floor(double number) {
  calls++;
  return number;
}
unsigned long strlen(const char *text) {
  calls++;
  return text != 0;
}
static char room[8];
void *alloca(unsigned long bytes) { return bytes ? room : 0; }
int main(void) {
  assert(abs(-3) == -2);
  fabs(-1.0);
  floor(2.5);
  assert(calls == 3);
  assert(strlen("abc") == 1 && calls == 4);
  assert(alloca(3) == room);
  return 0;
}
