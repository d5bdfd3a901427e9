// On some paths a library function writes to a literal.
// expect: bounds=false
#include <string.h>
int flag;
char buffer[8];
int main(void) {
  char *p = flag ? buffer : "abc";
  strcpy(p, "x"); //~ ERROR
  return 0;
}
