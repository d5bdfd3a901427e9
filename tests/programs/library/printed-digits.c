// What printing into memory makes of numbers, characters and strings, byte by byte.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

char name[16];

void *worker(void *arg) {
  char own[8];
  int length = snprintf(own, sizeof own, "w-%03d|%-3c|", (int)(long)arg, 'x');
  assert(length == 10);
  assert(strcmp(own, "w-007|x") == 0);
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, worker, (void *)7);
  assert(sprintf(name, "%s%5d%%", "at", -42) == 8);
  assert(strcmp(name, "at  -42%") == 0);
  assert(sprintf(name, "%x %X %o", 48879, 171, 8) == 10);
  assert(strcmp(name, "beef AB 10") == 0);
  assert(snprintf(name, 0, "%+d", 3) == 2);
  assert(name[0] == 'b');
  pthread_join(t, 0);
  return 0;
}
