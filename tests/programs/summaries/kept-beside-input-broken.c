// As kept-beside-input.c, but all threads get the address of one variable.
// expect: races=false
#include <pthread.h>

void add(int **counter) {
  **counter = **counter + 1; //~ RACE
}

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
  static int own;
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
