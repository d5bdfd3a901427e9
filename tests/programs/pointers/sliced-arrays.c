// expect: races=true assertions=true
// The sets of a slice are as fine as those of the whole program: `turns` has arrays inside and is sliced
// away, and the range of what the comparison moves its pointers by is still known.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

sem_t turns[2];
char text[4] = "ab";
const char *word = "ab";

void *compare(void *argument) {
  int differ = memcmp(text, word, 1);
  assert(differ == 0);
  return 0;
}

int main(void) {
  sem_init(&turns[0], 0, 1);
  pthread_t id;
  pthread_create(&id, 0, compare, 0);
  return 0;
}
