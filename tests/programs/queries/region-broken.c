// Two numbers are changed in regions of one lock; a third thread looks without it, and may see one of them changed only.
// expect: assertions=false races=false
// args: --engine queries
#include <assert.h>
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int first, second;
static void *up(void *unused) {
  for (;;) {
    pthread_mutex_lock(&m);
    if (first < 1000) { //~ RACE
      first = first + 1; //~ RACE
      second = second + 1; //~ RACE
    }
    pthread_mutex_unlock(&m);
  }
  return unused;
}
static void *down(void *unused) {
  for (;;) {
    pthread_mutex_lock(&m);
    if (first > 0) { //~ RACE
      first = first - 1; //~ RACE
      second = second - 1; //~ RACE
    }
    pthread_mutex_unlock(&m);
  }
  return unused;
}
static void *look(void *unused) {
  int one = first; //~ RACE
  int other = second; //~ RACE
  assert(one >= other); //~ ERROR
  return unused;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, up, 0);
  pthread_create(&t, 0, down, 0);
  pthread_create(&t, 0, look, 0);
  return 0;
}
