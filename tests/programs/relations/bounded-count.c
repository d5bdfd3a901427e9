// A counter that grows only below a limit which is not known, and an array with an element for each count.
// expect: assertions=true races=true bounds=true overflow=true
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
extern _Bool __VERIFIER_nondet_bool(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int count, size;
int buffer[2];
void *put(void *arg) {
  pthread_mutex_lock(&m);
  if (count < size) {
    buffer[count] = 1;
    count++;
  }
  assert(count <= size);
  pthread_mutex_unlock(&m);
  return arg;
}
int main(void) {
  pthread_t t;
  size = __VERIFIER_nondet_int();
  if (size < 1 || size > 2)
    return 0;
  while (__VERIFIER_nondet_bool()) {
    pthread_create(&t, 0, put, 0);
  }
  return 0;
}
