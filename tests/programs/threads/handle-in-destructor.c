// A destructor of a thread-specific value reads the thread's id once it is stored: a lock is held meanwhile.
// expect: races=true
#include <pthread.h>
static pthread_key_t key;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread, seen;
static void look(void *value) {
  pthread_mutex_lock(&lock);
  seen = thread;
  pthread_mutex_unlock(&lock);
}
static void *run(void *value) {
  pthread_setspecific(key, &seen);
  return 0;
}
int main(void) {
  pthread_key_create(&key, look);
  pthread_mutex_lock(&lock);
  pthread_create(&thread, 0, run, 0);
  pthread_mutex_unlock(&lock);
  pthread_join(thread, 0);
  return 0;
}
