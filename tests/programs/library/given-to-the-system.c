// Functions that keep what they are given: without any such thing, nothing is left out.
// expect: assertions=true
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
static char text[] = "NAME=1";
int main(void) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 65536);
  pthread_atfork(0, 0, 0);
  putenv("OTHER=1");
  char *found = getenv("NAME");
  assert(text[5] == '1' || found == text + 5);
  return 0;
}
