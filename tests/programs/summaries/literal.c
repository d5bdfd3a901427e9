// What is written may be a string literal, as far as points-to sets tell, and all threads read that without a lock. But a
// literal is never written: the program would be undefined.
// expect: races=true
// args: --engine summaries
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const int limits[2] = {3, 5};
char buffer[8];
char *place;
int *bound;
int own = 4;

void put(char letter) {
  pthread_mutex_lock(&lock);
  if (place == buffer) {
    *place = letter;
    *bound = *bound + 1;
  }
  pthread_mutex_unlock(&lock);
}

void *worker(void *argument) {
  const char *text = "text";
  if (text[1] == 'e' && limits[1] > 3)
    put(text[2]);
  return 0;
}

int main(int argc, char **argv) {
  pthread_t one, two;
  place = argc > 2 ? (char *)"text" : buffer;
  bound = argc > 2 ? (int *)&limits[1] : &own;
  pthread_create(&one, 0, worker, 0);
  pthread_create(&two, 0, worker, 0);
  return 0;
}
