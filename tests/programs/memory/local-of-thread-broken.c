// A variable of a thread that ends before the program does.
// expect: deref=false
#include <pthread.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
void *increase(void *argument) {
  int *number = argument;
  pthread_mutex_lock(&lock);
  (*number)++; //~ ERROR
  pthread_mutex_unlock(&lock);
  return 0;
}
void *start(void *argument) {
  pthread_t id;
  int number = 0;
  pthread_create(&id, 0, increase, &number);
  return 0;
}
int main(void) {
  pthread_t id;
  pthread_create(&id, 0, start, 0);
  pthread_join(id, 0);
  pthread_exit(0);
}
