// As handed-over-input.c, but two threads get the same object.
// expect: races=false
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct task {
  int input;
  int output;
};

void run(struct task *task) { task->output = task->input * 2; } //~ RACE

void *worker(void *argument) {
  struct task *task = argument;
  char text[8];
  if (read(task->input, text, sizeof text) > 0)
    run(task);
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
    static struct task *task;
    if (i != 1)
      task = make(i);
    pthread_create(&thread, 0, worker, task);
  }
  return 0;
}
