// A writer is alone: no other writer changes the data meanwhile. How many readers there are is counted.
// expect: assertions=true
// args: --engine horn
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int readers, writing, data;
static void *reader(void *unused) {
  pthread_mutex_lock(&m);
  if (writing) {
    pthread_mutex_unlock(&m);
    return unused;
  }
  readers = readers + 1;
  pthread_mutex_unlock(&m);
  int first = data;
  pthread_mutex_lock(&m);
  readers = readers - 1;
  pthread_mutex_unlock(&m);
  return unused;
}
static void *writer(void *unused) {
  pthread_mutex_lock(&m);
  if (writing || readers > 0) {
    pthread_mutex_unlock(&m);
    return unused;
  }
  writing = 1;
  pthread_mutex_unlock(&m);
  data = 1;
  assert(data == 1);
  data = 0;
  pthread_mutex_lock(&m);
  writing = 0;
  pthread_mutex_unlock(&m);
  return unused;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int()) {
    if (__VERIFIER_nondet_int())
      pthread_create(&t, 0, reader, 0);
    else
      pthread_create(&t, 0, writer, 0);
  }
  return 0;
}
