// A stress test: threads count themselves under a lock, and main prints one of the counters while they run.
// Called as `test stress threads N`; the other counters are read once all threads have ended.
// todo: races=false
// args: --data-model LP64
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static pthread_t threads[100];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int created, alive, most;
static int verbose;
static void fail(const char *why) {
  fprintf(stderr, "%s\n", why);
  exit(1);
}
static void *run(void *number) {
  pthread_mutex_lock(&lock);
  created++;
  alive++; //~ RACE
  if (alive > most)
    most = alive;
  pthread_mutex_unlock(&lock);
  if (verbose)
    printf("hello from %d\n", *(int *)number);
  free(number);
  pthread_mutex_lock(&lock);
  alive--; //~ RACE
  pthread_mutex_unlock(&lock);
  return 0;
}
static int stress_threads(int count, char **words) {
  if (count < 1)
    fail("how many?");
  int wanted = atoi(words[0]);
  if (wanted < 1 || wanted > 100)
    fail("1 to 100");
  verbose = count >= 2 && strcmp(words[1], "-v") == 0;
  for (int i = 0; i < wanted; i++) {
    int *number = malloc(sizeof *number);
    *number = i;
    pthread_create(&threads[i], 0, run, number);
  }
  printf("alive: %d\n", alive); //~ RACE
  for (int i = 0; i < wanted; i++)
    pthread_join(threads[i], 0);
  printf("created: %d, most: %d\n", created, most);
  return 0;
}
static int stress(int count, char **words) {
  if (count < 1)
    fail("what?");
  if (strcmp(words[0], "threads") == 0)
    return stress_threads(count - 1, words + 1);
  fail("no such test");
  return 1;
}
int main(int argc, char **argv) {
  if (argc < 2)
    fail("what?");
  if (strcmp(argv[1], "--help") == 0) {
    puts("test stress threads N [-v]");
    return 0;
  }
  if (strcmp(argv[1], "unit") == 0)
    return 0;
  if (strcmp(argv[1], "stress") == 0)
    return stress(argc - 2, argv + 2);
  fail("no such action");
  return 1;
}
