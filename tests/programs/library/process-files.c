// todo: assertions=true
// Files that are open have different numbers.
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
  int a = open("a", 0), b = open("b", 0); if (a >= 0 && b >= 0) assert(a != b);
  return 0;
}
