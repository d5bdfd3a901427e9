// A table grows under its lock, and threads find it through the variable each time.
// expect: deref=true free=true
#include <pthread.h>
#include <stdlib.h>
static int *table;
static unsigned length;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *append(void *unused) {
  pthread_mutex_lock(&lock);
  table = realloc(table, (length + 1) * sizeof *table);
  table[length++] = 1;
  pthread_mutex_unlock(&lock);
  return 0;
}
static void *set(void *unused) {
  pthread_mutex_lock(&lock);
  if (length > 0)
    table[0] = 2;
  pthread_mutex_unlock(&lock);
  return 0;
}
int main(void) {
  pthread_t t[2];
  pthread_create(&t[0], 0, append, 0);
  pthread_create(&t[1], 0, set, 0);
  pthread_join(t[0], 0);
  pthread_join(t[1], 0);
  free(table);
  return 0;
}
