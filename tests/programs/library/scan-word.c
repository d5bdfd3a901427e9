// todo: assertions=true
// A word has no white space in it: before, such an input was taken for a violation.
#include <assert.h>
#include <stdio.h>
int main(void) {
  char word[4];
  if (scanf("%3s", word) == 1) assert(word[0] != ' ');
  return 0;
}
