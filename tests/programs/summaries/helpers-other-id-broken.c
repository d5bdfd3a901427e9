// Like helpers.c, but each thread joins the helper whose id was stored last, which may be that of another thread.
// expect: races=false
#include <pthread.h>

pthread_t last;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *look(void *argument) {
  int *count = argument;
  return *count ? argument : 0; //~ RACE
}

static void *work(void *unused) {
  int count = 1;
  pthread_t id;
  pthread_create(&id, 0, look, &count);
  pthread_mutex_lock(&lock);
  last = id;
  pthread_mutex_unlock(&lock);
  pthread_mutex_lock(&lock);
  pthread_t other = last;
  pthread_mutex_unlock(&lock);
  if (other == id) pthread_join(other, 0);
  count = 0; //~ RACE
  for (;;) {}
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, work, 0);
  pthread_create(&two, 0, work, 0);
  return 0;
}
