// Like literal.c, but the text is an array of the program: it may be written while another thread reads it.
// todo: races=false
// args: --engine summaries
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
char text[] = "text";
char *place;

void put(char letter) {
  pthread_mutex_lock(&lock);
  *place = letter; //~ RACE
  pthread_mutex_unlock(&lock);
}

void *worker(void *argument) {
  if (text[0] == 't') //~ RACE
    put('t');
  return 0;
}

int main(void) {
  pthread_t one, two;
  place = text;
  pthread_create(&one, 0, worker, 0);
  pthread_create(&two, 0, worker, 0);
  return 0;
}
