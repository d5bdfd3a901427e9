// One thread remembers the address of a request; when it has been answered and freed, a new request may have the same
// address, so that it is taken for the old one.
// expect: assertions=false
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
  number = 2;
  pthread_mutex_unlock(&lock);
  return 0;
}
int main(void) {
  pthread_t t;
  request = malloc(sizeof *request);
  number = 1;
  pthread_create(&t, 0, server, 0);
  pthread_mutex_lock(&lock);
  int *mine = request;
  int seen = number;
  pthread_mutex_unlock(&lock);
  pthread_mutex_lock(&lock);
  if (request == mine) assert(number == seen); //~ ERROR
  pthread_mutex_unlock(&lock);
  pthread_join(t, 0);
  return 0;
}
