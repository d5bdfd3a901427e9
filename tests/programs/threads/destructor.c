// The destructor of a thread-specific value runs when its thread returns, before it can be joined; not without a value.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
static pthread_key_t key;
static int freed, with = 1, without;
static void drop(void *value) { freed += *(int *)value; }
static void *work(void *argument) {
  if (*(int *)argument)
    pthread_setspecific(key, argument);
  return 0;
}
int main(void) {
  pthread_t one, other;
  pthread_key_create(&key, drop);
  pthread_create(&one, 0, work, &with);
  pthread_join(one, 0);
  pthread_create(&other, 0, work, &without);
  pthread_join(other, 0);
  assert(freed == 1);
  return 0;
}
