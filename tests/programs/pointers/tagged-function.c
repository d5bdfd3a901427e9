// The address of a function that was moved is moved back, and the function is called. It takes a lock.
// expect: races=true assertions=true
#include <pthread.h>
#include <stdint.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int counter;
uintptr_t tagged;
static void count(void) {
  pthread_mutex_lock(&lock);
  counter = counter + 1;
  pthread_mutex_unlock(&lock);
}
static void *work(void *unused) {
  void (*call)(void) = (void (*)(void))(tagged - 1);
  call();
  return 0;
}
int main(void) {
  pthread_t one, other;
  tagged = (uintptr_t)count + 1;
  pthread_create(&one, 0, work, 0);
  pthread_create(&other, 0, work, 0);
  pthread_join(one, 0);
  pthread_join(other, 0);
  return 0;
}
