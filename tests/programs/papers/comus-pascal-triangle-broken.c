// CoMuS (paper 5), chapter 9, Pascal-Triangle, broken: row 2 reads a cell that row 1 has not computed.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
int row1[2], row2[3];
atomic_int done;
void *first(void *arg) {
  (void)arg;
  row1[0] = 1;
  done = 1;
  row1[1] = 1; //~ RACE
  done = 2;
  return 0;
}
void *second(void *arg) {
  (void)arg;
  while (done < 1)
    ;
  row2[0] = 1;
  row2[1] = row1[0] + row1[1]; //~ RACE
  row2[2] = 1;
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(row2[1] == 2); //~ ERROR
  return 0;
}
