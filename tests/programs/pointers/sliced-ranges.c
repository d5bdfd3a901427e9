// expect: assertions=true
// A slice knows less of how far pointers move than the whole program: the loop at the end goes, and with it
// what is known of `n`. It keeps the targets that were found before.
#include <assert.h>
#include <pthread.h>

struct each { pthread_t id; int in, out; } all[3];

static void *run(void *p) {
  struct each *e = p;
  e->out = e->in + 1;
  return 0;
}

int main(void) {
  int n = 2;
  int j;
  for (j = 0; j < n; j++) {
    all[j].in = 1;
    pthread_create(&all[j / 2].id, 0, run, &all[0]);
  }
  assert(n == 2);
  for (j = 0; j < n - 1; j++) {
  }
  return 0;
}
