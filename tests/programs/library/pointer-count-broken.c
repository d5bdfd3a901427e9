// There is no number to store the count in.
// expect: bounds=false
#include <stdio.h>
int main(void) {
  int *count = 0;
  printf("text%n\n", count); //~ ERROR
  return 0;
}
