// CoMuS (paper 5), chapter 9, Longest-Increasing-Subsequence, broken: the specification is off by one.
// expect: assertions=false races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
int v[3] = {5, 3, 7};
atomic_int len[3];
void *f(void *arg) {
  int i = (int)(intptr_t)arg, best = 1;
  for (int j = 0; j < i; j++) {
    while (len[j] == 0)
      ;
    int l = len[j];
    if (v[j] < v[i] && l + 1 > best)
      best = l + 1;
  }
  len[i] = best;
  return 0;
}
int main(void) {
  pthread_t t[2];
  pthread_create(&t[0], 0, f, (void *)1);
  pthread_create(&t[1], 0, f, (void *)2);
  f((void *)0);
  pthread_join(t[0], 0);
  pthread_join(t[1], 0);
  assert(len[0] == 1 && len[1] == 1);
  assert(len[2] == 3); //~ ERROR
  return 0;
}
