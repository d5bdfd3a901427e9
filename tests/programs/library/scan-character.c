// Any character can be read, and any word: if nothing is, the input has ended.
// expect: assertions=true
#include <assert.h>
#include <stdio.h>
int main(void) {
  char letter, word[8];
  int read = scanf("%c", &letter);
  assert(read == 1 || read == EOF);
  read = scanf(" %7s", word);
  assert(read == 1 || read == EOF);
  return 0;
}
