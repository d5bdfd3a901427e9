// The bits of an address go through a float that is not modelled and come back: what is written there is no table, and no lock is held.
// expect: races=unknown
// args: --engine summaries --data-model LP64
#include <math.h>
#include <pthread.h>
#include <string.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int count;

int *through(int *address) {
  double bits;
  memcpy(&bits, &address, sizeof bits);
  bits = fabs(bits);
  memcpy(&address, &bits, sizeof bits);
  return address;
}

void *worker(void *argument) {
  pthread_mutex_lock(&lock);
  count++;
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, worker, 0);
  *through(&count) = 1;
  return 0;
}
