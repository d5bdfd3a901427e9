// Each account is protected by the mutex in its own struct.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
struct account { pthread_mutex_t m; int money; };
struct account a = {PTHREAD_MUTEX_INITIALIZER, 10}, b = {PTHREAD_MUTEX_INITIALIZER, 10};
static void add(struct account *x, struct account *lock, int d) {
  pthread_mutex_lock(&lock->m);
  x->money += d;
  pthread_mutex_unlock(&lock->m);
}
void *f(void *arg) { (void)arg; add(&a, &a, 5); return 0; }
void *g(void *arg) { (void)arg; add(&a, &a, -5); return 0; }
int main(void) {
  pthread_t t, u;
  pthread_create(&t, 0, f, 0);
  pthread_create(&u, 0, g, 0);
  pthread_join(t, 0);
  pthread_join(u, 0);
  assert(a.money == 10);
  return 0;
}
