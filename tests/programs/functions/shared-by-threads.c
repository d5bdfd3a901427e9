// One function called in two threads has its own locals in each.
// expect: assertions=true races=true
#include <pthread.h>
static int work(int n) {
  int sum;
  sum = 0;
  for (int i = 0; i < n; i++)
    sum += i;
  return n;
}
void *f(void *arg) { (void)arg; work(2); return 0; }
void *g(void *arg) { (void)arg; work(3); return 0; }
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, g, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
