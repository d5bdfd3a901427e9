// What follows a printed text of an error does not rest on its letters; how long the text is, is up to the library.
// expect: races=false
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
static int shared;
static void *worker(void *unused) {
  shared = 1; //~ RACE
  return 0;
}
int main(void) {
  pthread_t one;
  FILE *file = fopen("x", "r");
  if (!file) {
    const char *text = strerror(ENOENT);
    fprintf(stderr, "x: %s\n", text);
    if (strlen(text) < 4)
      return 1;
    pthread_create(&one, 0, worker, 0);
    shared = 2; //~ RACE
    pthread_join(one, 0);
  }
  return 0;
}
