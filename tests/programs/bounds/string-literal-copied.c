// The literal is read only.
// expect: bounds=true
#include <string.h>
int flag;
char buffer[8];
int main(void) {
  char *p = flag ? buffer : "abc";
  return strlen(p);
}
