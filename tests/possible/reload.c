// A handler sets a flag and counts; a worker reads the flag, and main prints the count without any order.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static int reload, signals, stop;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void hang_up(int number) {
  signals++;
  reload = 1;
}
static void *worker(void *unused) {
  for (;;) {
    pthread_mutex_lock(&lock);
    int is_over = stop;
    pthread_mutex_unlock(&lock);
    if (is_over)
      break;
    if (reload)
      reload = 0;
    sleep(1);
  }
  return 0;
}
int main(void) {
  pthread_t thread;
  signal(SIGHUP, hang_up);
  pthread_create(&thread, 0, worker, 0);
  sleep(10);
  pthread_mutex_lock(&lock);
  stop = 1;
  pthread_mutex_unlock(&lock);
  pthread_join(thread, 0);
  return 0;
}
