// A word has at least one character.
// todo: assertions=true
#include <assert.h>
#include <stdio.h>
int main(void) {
  char word[8];
  if (scanf("%7s", word) == 1)
    assert(word[0] != 0);
  return 0;
}
