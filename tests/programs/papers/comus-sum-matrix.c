// CoMuS (paper 5), chapter 9, Sum-Matrix 2x2 with one thread per row; every cell is the sum of the cells below and right of it.
// expect: assertions=true races=true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
int A[2][2] = {{1, 2}, {3, 4}}, S[2][2];
atomic_int ready = 2;
void *lower(void *arg) {
  (void)arg;
  int row = 0;
  for (int j = 1; j >= 0; j--) {
    row += A[1][j];
    S[1][j] = row;
    ready = j;
  }
  return 0;
}
void *upper(void *arg) {
  (void)arg;
  int row = 0;
  for (int j = 1; j >= 0; j--) {
    row += A[0][j];
    while (ready > j)
      ;
    S[0][j] = row + S[1][j];
  }
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, lower, 0);
  pthread_create(&b, 0, upper, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(S[0][0] == 10 && S[0][1] == 6);
  return 0;
}
