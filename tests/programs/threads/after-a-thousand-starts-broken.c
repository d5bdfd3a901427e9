// expect: assertions=false
// args: --engine explicit
// A thousand threads are started before the window opens, in which one of them has to stop.
#include <assert.h>
#include <pthread.h>

int x;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, turn = PTHREAD_MUTEX_INITIALIZER;

static void change(void) {
  pthread_mutex_lock(&lock);
  x++;
  pthread_mutex_unlock(&lock);
  pthread_mutex_lock(&lock);
  x--;
  pthread_mutex_unlock(&lock);
}

static void *work(void *arg) {
  pthread_mutex_lock(&turn);
  pthread_mutex_lock(&lock);
  int seen = x;
  pthread_mutex_unlock(&lock);
  pthread_mutex_unlock(&turn);
  if (seen) change();
  return 0;
}

int main(void) {
  pthread_t id[1000];
  for (int i = 0; i < 1000; i++) pthread_create(&id[i], 0, work, 0);
  change();
  pthread_mutex_lock(&turn);
  pthread_mutex_lock(&lock);
  assert(x == 0); //~ ERROR
  pthread_mutex_unlock(&lock);
  pthread_mutex_unlock(&turn);
  for (int i = 0; i < 1000; i++) pthread_join(id[i], 0);
  return 0;
}
