// expect: overflow=true
#include <limits.h>
#include <stdlib.h>
int main(void) {
  int x = INT_MAX;
  exit(x - 1);
}
