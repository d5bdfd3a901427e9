// A variable that is declared without a value may hold any number before it gets the address of a thread's own variable.
// That makes the number no guess of this address: it is compared with none.
// expect: races=true
// args: --engine summaries
#include <pthread.h>

void add(int **counter) { **counter = **counter + 1; }

void work(int *own) {
  for (int i = 0; i < 2; i++) {
    int *counter;
    if (i == 0)
      counter = own;
    if (i == 1)
      counter = own;
    add(&counter);
  }
}

void *worker(void *argument) {
  int own = 0;
  work(&own);
  return 0;
}

int main(void) {
  for (int i = 0; i < 3; i++) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
  }
  return 0;
}
