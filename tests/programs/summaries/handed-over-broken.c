// As handed-over.c, but the maker writes to the object when it has handed it over.
// expect: races=false
#include <pthread.h>
#include <stdlib.h>

struct task {
  int input;
  int output;
};

void run(struct task *task) { task->output = task->input * 2; } //~ RACE

void *worker(void *argument) {
  struct task *task = argument;
  run(task);
  free(task);
  return 0;
}

struct task *make(int input) {
  struct task *task = malloc(sizeof *task);
  task->input = input;
  task->output = 0;
  return task;
}

int main(void) {
  for (int i = 0; i < 3; i++) {
    pthread_t thread;
    struct task *task = make(i);
    pthread_create(&thread, 0, worker, task);
    task->input = 7; //~ RACE
  }
  return 0;
}
