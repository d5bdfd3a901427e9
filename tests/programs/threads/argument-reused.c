// Every thread gets a pointer to its own loop index.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
int seen[3];
void *f(void *arg) {
  int i = *(int *)arg;
  seen[i] = 1;
  return 0;
}
int main(void) {
  pthread_t t[2];
  int i, id[2];
  for (i = 0; i < 2; i++) {
    id[i] = i;
    pthread_create(&t[i], 0, f, &id[i]);
  }
  pthread_join(t[0], 0);
  pthread_join(t[1], 0);
  assert(seen[0] == 1 && seen[1] == 1);
  return 0;
}
