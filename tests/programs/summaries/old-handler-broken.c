// What handled a signal before is a handler that was set: it is called, and races with the first thread.
// todo: races=false
// args: --engine summaries
#include <pthread.h>
#include <signal.h>

static int x;

static void touch(int number) { x = number; }

static void (*table[1])(int) = {touch};

static void *worker(void *argument) {
  void (*old)(int) = signal(*(int *)argument, SIG_IGN);
  if (old != SIG_ERR && old != SIG_DFL && old != SIG_IGN)
    old(1);
  return 0;
}

int main(int argc, char **argv) {
  pthread_t thread;
  signal(SIGUSR1, table[0]);
  pthread_create(&thread, 0, worker, &argc);
  table[0](2);
  pthread_join(thread, 0);
  return 0;
}
