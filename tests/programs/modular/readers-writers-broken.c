// The flag is not set in the same critical section as it is tested in: two writers.
// expect: assertions=false
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
  pthread_mutex_unlock(&m);
  writing = 1;
  data = 1;
  assert(data == 1); //~ ERROR
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
