// Names that the assembler gives: a second name of a lock's functions, a weak reference, and static variables.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
int take(pthread_mutex_t *) __asm__("pthread_mutex_lock");
static int give(pthread_mutex_t *) __attribute__((weakref("pthread_mutex_unlock")));
int five(void) { return 5; }
static int again(void) __attribute__((weakref("five")));
static int nothing(void) __attribute__((weakref("not_defined_anywhere")));
static int hidden;
extern int seen __asm__("hidden");
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *one(void *arg) {
  take(&lock);
  hidden++;
  give(&lock);
  return arg;
}
static void *two(void *arg) {
  if (give)
    take(&lock);
  seen++;
  if (give)
    give(&lock);
  return arg;
}
int main(void) {
  pthread_t first, second;
  assert(again != 0 && again() == 5);
  assert(nothing == 0);
  pthread_create(&first, 0, one, 0);
  pthread_create(&second, 0, two, 0);
  pthread_join(first, 0);
  pthread_join(second, 0);
  assert(hidden == 2 && seen == 2);
  return 0;
}
