// A lock is reached through a pointer that is read twice: nobody writes the pointer meanwhile, so it is the same lock.
// expect: races=true
// args: --engine summaries
#include <pthread.h>
#include <stdlib.h>

struct lock {
  pthread_mutex_t mutex;
  long value;
};

struct lock *new_lock(long value) {
  struct lock *lock = malloc(sizeof *lock);
  pthread_mutex_init(&lock->mutex, 0);
  lock->value = value;
  return lock;
}

void possess(struct lock *lock) { pthread_mutex_lock(&lock->mutex); }
void release(struct lock *lock) { pthread_mutex_unlock(&lock->mutex); }

struct pool {
  struct lock *have;
  int made;
} first, second;

void use(struct pool *pool) {
  possess(pool->have);
  pool->made++;
  release(pool->have);
}

void *worker(void *argument) {
  use(&first);
  use(&second);
  return 0;
}

int main(int argc, char **argv) {
  pthread_t thread;
  first.have = new_lock(0);
  second.have = new_lock(1);
  for (int i = 0; i < argc; i++)
    pthread_create(&thread, 0, worker, 0);
  use(&first);
  return 0;
}
