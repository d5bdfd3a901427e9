// A decimal number in a text is what it says.
// expect: races=true
#include <stdlib.h>
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
  char *end;
  if (strtod("2.50x", &end) != 2.5 || atof(" -3") != -3.0) return 1;
  pthread_create(&one, 0, worker, 0);
  pthread_create(&other, 0, worker, 0);
  pthread_join(one, 0);
  pthread_join(other, 0);
  return 0;
}
