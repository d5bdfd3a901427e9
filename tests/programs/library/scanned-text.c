// What is scanned from a text is what it says.
// expect: races=true
#include <stdio.h>
#include <string.h>
#include <pthread.h>

static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg) {
  pthread_mutex_lock(&lock);
  shared++;
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(int argc, char **argv) {
  pthread_t one, other;
  int number;
  char word[8], mark;
  if (sscanf("GET 42:x", "%7s %d:%c", word, &number, &mark) != 3) return 1;
  if (strcmp(word, "GET") != 0 || number != 42 || mark != 'x') return 1;
  if (sscanf("", "%d", &number) != EOF || sscanf("y", "%d", &number) != 0) return 1;
  pthread_create(&one, 0, worker, 0);
  pthread_create(&other, 0, worker, 0);
  pthread_join(one, 0);
  pthread_join(other, 0);
  return 0;
}
