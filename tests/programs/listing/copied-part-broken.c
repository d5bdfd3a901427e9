// Part of an object is copied to where others read it. The checker follows whole objects, so it takes the text for
// known to others: what rests on that is left out, and the rest is listed. The flag races; all else has its lock.
// expect: races=false
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct note {
  char *text;
  char name[24];
};

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
char last[24];
int count;
int done;

void *worker(void *unused) {
  struct note mine;
  memset(&mine, 0, sizeof mine);
  mine.text = malloc(8);
  if (!mine.text)
    return 0;
  mine.text[0] = 'x';
  pthread_mutex_lock(&lock);
  memcpy(last, mine.name, sizeof last);
  count = count + 1;
  pthread_mutex_unlock(&lock);
  free(mine.text);
  done = 1; //~ RACE
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, worker, 0);
  pthread_create(&two, 0, worker, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return count;
}
