// A thread that finds nothing to do ends with the lock in hand; the other one waits for it forever, and `main` for both.
// expect: assertions=true races=true deadlock=false
#include <pthread.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int orders = 1;
static void *serve(void *unused) {
  pthread_mutex_lock(&lock); //~ ERROR
  if (orders == 0)
    return 0;
  orders--;
  pthread_mutex_unlock(&lock);
  return 0;
}
int main(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; i++)
    pthread_create(&threads[i], 0, serve, 0);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], 0); //~ ERROR
  return 0;
}
