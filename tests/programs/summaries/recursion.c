// Recursive procedures and calls through pointers, under one lock.
// expect: races=true
// args: --engine summaries
#include <pthread.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int total;

void once(int amount) { total += amount; }
void twice(int amount) { total += 2 * amount; }

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
