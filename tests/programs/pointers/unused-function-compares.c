// expect: assertions=true
// Nobody calls `opened`: that an address is compared with an unknown number there, and that an unknown
// number is used as an address, has no effect.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct file { int *mode; int *owner; };
int shared;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int opened(struct file *one) {
  if (one->mode == &shared) *one->owner = 7;
  return 0;
}

struct { int (*open)(struct file *); } operations = {opened};

void *work(void *arg) {
  (void)arg;
  pthread_mutex_lock(&lock);
  shared = 1;
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t id;
  if (!operations.open) return 1;
  pthread_create(&id, 0, work, 0);
  pthread_mutex_lock(&lock);
  assert(shared != 7);
  pthread_mutex_unlock(&lock);
  pthread_join(id, 0);
  return 0;
}
