// As recursion.c, but one of the procedures gives the lock back.
// expect: races=false
#include <pthread.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int total;

void once(int amount) { total += amount; } //~ RACE
void twice(int amount) {
  pthread_mutex_unlock(&mutex);
  total += 2 * amount; //~ RACE
  pthread_mutex_lock(&mutex);
}

void down(int depth, void (*action)(int)) {
  if (depth == 0)
    return;
  action(depth);
  down(depth - 1, action);
}

void run(int number) {
  pthread_mutex_lock(&mutex);
  down(3, number ? once : twice);
  pthread_mutex_unlock(&mutex);
}

void *worker(void *argument) {
  (void)argument;
  run(0);
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, worker, 0);
  run(1);
  pthread_join(thread, 0);
  return total;
}
