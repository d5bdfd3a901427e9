// A thread that finds nothing to do releases the lock before it ends.
// expect: assertions=true races=true deadlock=true
#include <pthread.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int orders = 1;
static void *serve(void *unused) {
  pthread_mutex_lock(&lock);
  if (orders == 0)
    goto done;
  orders--;
done:
  pthread_mutex_unlock(&lock);
  return 0;
}
int main(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; i++)
    pthread_create(&threads[i], 0, serve, 0);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], 0);
  return 0;
}
