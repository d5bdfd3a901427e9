// `memrchr` reads as many bytes as it is told.
// expect: bounds=false
#define _GNU_SOURCE
#include <string.h>
int main(void) {
  char text[] = "a/b/c";
  return memrchr(text, 'x', 7) != 0; //~ ERROR
}
