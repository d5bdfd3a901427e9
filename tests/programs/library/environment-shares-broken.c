// The string becomes a part of the environment, so that the pointer which is found there leads into it.
// todo: assertions=false
#include <assert.h>
#include <stdlib.h>
static char text[] = "NAME=1";
int main(void) {
  putenv(text);
  char *found = getenv("NAME");
  if (found)
    *found = '2';
  assert(text[5] == '1');
  return 0;
}
