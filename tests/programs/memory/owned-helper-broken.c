// Any number of threads; what is dropped is used again.
// expect: deref=false
#include <pthread.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
struct pair {
  int one;
  int two;
};
static struct pair *make(int value) {
  struct pair *made = malloc(sizeof *made);
  made->one = value;
  made->two = 0;
  return made;
}
static int sum(struct pair *pair) {
  return pair->one + pair->two; //~ ERROR
}
static void drop(struct pair *pair) {
  pair->one = 0;
  free(pair);
}
static void *work(void *unused) {
  struct pair *mine = make(3);
  drop(mine);
  int result = sum(mine);
  return result ? 0 : unused;
}
int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int())
    pthread_create(&t, 0, work, 0);
  return 0;
}
