// A thread keeps the address of an element while the table may move.
// expect: deref=false
#include <pthread.h>
#include <stdlib.h>
static int *table;
static unsigned length;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *append(void *unused) {
  pthread_mutex_lock(&lock);
  table = realloc(table, (length + 2) * sizeof *table);
  table[length++] = 1;
  pthread_mutex_unlock(&lock);
  return 0;
}
static void *set(void *unused) {
  pthread_mutex_lock(&lock);
  int *first = table;
  pthread_mutex_unlock(&lock);
  if (first)
    *first = 2; //~ ERROR
  return 0;
}
int main(void) {
  pthread_t t[2];
  table = malloc(sizeof *table);
  pthread_create(&t[0], 0, append, 0);
  pthread_create(&t[1], 0, set, 0);
  pthread_join(t[0], 0);
  pthread_join(t[1], 0);
  free(table);
  return 0;
}
