// The counter passes its bound in the 91st thread; no two threads need to run at once.
// expect: assertions=false
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int high, low;
static void *worker(void *unused) {
  pthread_mutex_lock(&lock);
  if (high < 90) high++;
  if (low <= high) low++;
  assert(low <= high); //~ ERROR
  pthread_mutex_unlock(&lock);
  return 0;
}
int main(void) {
  pthread_t thread;
  while (__VERIFIER_nondet_int()) pthread_create(&thread, 0, worker, 0);
  return 0;
}
