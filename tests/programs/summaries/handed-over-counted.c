// Each thread gets an object of its own, and keeps it while it counts atomically, which reads and writes in one step.
// expect: races=true
// args: --engine summaries
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct task {
  int input;
  int output;
};

atomic_int started;

void run(struct task *task) { task->output = task->input * 2; }

void *worker(void *argument) {
  struct task *task = argument;
  int number = atomic_fetch_add(&started, 1);
  run(task);
  task->output += number;
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
