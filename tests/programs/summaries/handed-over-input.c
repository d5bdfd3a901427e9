// Each thread gets an object of its own, and does not lose it to the results of system calls: these are numbers within
// bounds, and no addresses.
// expect: races=true
// args: --engine summaries
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct task {
  int input;
  int output;
};

void run(struct task *task) { task->output = task->input * 2; }

void *worker(void *argument) {
  struct task *task = argument;
  char text[8];
  if (read(task->input, text, sizeof text) > 0)
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
    pthread_create(&thread, 0, worker, make(i));
  }
  return 0;
}
