// The program's lock does nothing, and what it calls to print counts calls.
// expect: assertions=false races=false
#include <assert.h>
typedef unsigned long pthread_t;
typedef struct {
  int word;
} pthread_mutex_t;
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
int pthread_join(pthread_t, void **);
int pthread_mutex_lock(pthread_mutex_t *m) { return m == 0; }
int pthread_mutex_unlock(pthread_mutex_t *m) { return m == 0; }
pthread_mutex_t lock;
int calls;
int printf(const char *format, ...) {
  calls++; //~ RACE
  return format != 0;
}
static void *run(void *arg) {
  pthread_mutex_lock(&lock);
  printf("a");
  pthread_mutex_unlock(&lock);
  return arg;
}
int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, run, 0);
  pthread_create(&two, 0, run, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  assert(calls == 2); //~ ERROR
  return 0;
}
