// One thread remembers the number of a request, not its address: numbers are not used again.
// expect: assertions=true
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int *request;
int number;
void *server(void *unused) {
  pthread_mutex_lock(&lock);
  free(request);
  request = malloc(sizeof *request);
  *request = 2;
  number = 2;
  pthread_mutex_unlock(&lock);
  return 0;
}
int main(void) {
  pthread_t t;
  request = malloc(sizeof *request);
  *request = 1;
  number = 1;
  pthread_create(&t, 0, server, 0);
  pthread_mutex_lock(&lock);
  int seen = number;
  pthread_mutex_unlock(&lock);
  pthread_mutex_lock(&lock);
  if (number == seen) assert(*request == seen);
  pthread_mutex_unlock(&lock);
  pthread_join(t, 0);
  return 0;
}
