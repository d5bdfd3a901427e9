// As handed-over-counted.c, but a thread puts its object where others find it, and takes theirs, in one atomic step.
// expect: races=false
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct task {
  int input;
  int output;
};

_Atomic(struct task *) last;

void run(struct task *task) { task->output = task->input * 2; } //~ RACE

void *worker(void *argument) {
  struct task *task = argument;
  struct task *other = atomic_exchange(&last, task);
  run(task);
  if (other)
    other->input = 0; //~ RACE
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
