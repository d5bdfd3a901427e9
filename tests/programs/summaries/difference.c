// The difference of two pointers into one object is a number; so it moves a pointer within its object.
// expect: races=true
// args: --engine summaries --data-model LP64
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;
char out[64];
int count;
char line[] = "key=value";

void *worker(void *argument) {
  char *text = malloc(16);
  memcpy(text, line, sizeof line);
  char *found = strchr(text, '=');
  if (found) {
    long length = found - text;
    pthread_mutex_lock(&lock);
    out[length] = 0;
    pthread_mutex_unlock(&lock);
  }
  pthread_mutex_lock(&count_lock);
  count++;
  pthread_mutex_unlock(&count_lock);
  free(text);
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, worker, 0);
  pthread_create(&two, 0, worker, 0);
  return 0;
}
