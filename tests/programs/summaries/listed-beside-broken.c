// The handles of workers lie beside members that another thread writes while the workers run, and it writes one word too many: so the
// wrong worker is joined.
// expect: races=false
#include <pthread.h>

static struct {
  pthread_mutex_t lock;
  long state[2];
  pthread_t threads[2];
} pool;
static int done[2];

static void *work(void *argument) {
  *(int *)argument = 1; //~ RACE
  return 0;
}

static void *stop(void *unused) {
  long *words = pool.state;
  pthread_mutex_lock(&pool.lock);
  for (int i = 0; i < 3; i++) words[i] = words[i + 1];
  pthread_mutex_unlock(&pool.lock);
  return 0;
}

int main(void) {
  pthread_t stopper;
  pthread_mutex_init(&pool.lock, 0);
  for (int i = 0; i < 2; i++) pthread_create(&pool.threads[i], 0, work, &done[i]);
  pthread_create(&stopper, 0, stop, 0);
  pthread_join(stopper, 0);
  pthread_join(pool.threads[0], 0);
  done[0]++; //~ RACE
  return 0;
}
