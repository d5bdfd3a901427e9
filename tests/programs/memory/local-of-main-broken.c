// The thread of main ends before the program does, and its variables with it.
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
int main(void) {
  pthread_t id;
  int number = 0;
  pthread_create(&id, 0, increase, &number);
  pthread_exit(0);
}
