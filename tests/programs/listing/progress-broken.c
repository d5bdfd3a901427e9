// A download in parts: each thread counts what it got under a lock, a thread that shows progress looks at the
// sum without it, and the option `-q` turns that one off.
// expect: races=false
// args: --data-model LP64
#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
struct part {
  pthread_t thread;
  long from, to;
  int file;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long done, size;
static int parts = 2;
static int quiet;
static volatile int finished;
static void *fetch(void *given) {
  struct part *part = given;
  char buffer[64];
  long at = part->from;
  while (at < part->to) {
    long got = read(part->file, buffer, sizeof buffer);
    if (got <= 0)
      break;
    at += got;
    pthread_mutex_lock(&lock);
    done += got; //~ RACE
    pthread_mutex_unlock(&lock);
  }
  return 0;
}
static void *show(void *unused) {
  while (!finished) { //~ RACE
    printf("%ld of %ld\n", done, size); //~ RACE
    sleep(1);
  }
  return 0;
}
int main(int argc, char **argv) {
  pthread_t shower;
  int option;
  while ((option = getopt(argc, argv, "qn:")) != -1) {
    switch (option) {
    case 'q':
      quiet = 1;
      break;
    case 'n':
      parts = atoi(optarg);
      break;
    default:
      return 2;
    }
  }
  if (parts < 1 || parts > 16)
    return 2;
  size = 4096;
  struct part *all = calloc(parts, sizeof *all);
  if (!quiet)
    pthread_create(&shower, 0, show, 0);
  for (int i = 0; i < parts; i++) {
    all[i].from = size / parts * i;
    all[i].to = size / parts * (i + 1);
    all[i].file = 0;
    pthread_create(&all[i].thread, 0, fetch, &all[i]);
  }
  for (int i = 0; i < parts; i++)
    pthread_join(all[i].thread, 0);
  finished = 1; //~ RACE
  if (!quiet)
    pthread_join(shower, 0);
  free(all);
  return 0;
}
