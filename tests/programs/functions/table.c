// The table mentions a function that is not here, but no one calls it: the program is proved all the same.
// expect: races=true assertions=true
#include <assert.h>
#include <pthread.h>
extern void elsewhere(int *);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;
static void add(int *to) {
  if (*to < 10)
    ++*to;
}
struct operations {
  void (*change)(int *);
  void (*dump)(int *);
};
static struct operations operations = {.change = add, .dump = elsewhere};
static void *run(void *table) {
  struct operations *mine = table;
  pthread_mutex_lock(&lock);
  mine->change(&count);
  assert(count <= 10);
  pthread_mutex_unlock(&lock);
  return 0;
}
int main(void) {
  pthread_t thread;
  while (1)
    pthread_create(&thread, 0, run, &operations);
}
