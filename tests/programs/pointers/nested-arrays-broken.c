// From the inner array of one element a walk continues into the next element.
// expect: races=false
#include <pthread.h>
struct row {
  int cells[2];
  int sum;
} rows[3];
void *summer(void *arg) {
  rows[1].sum = 1; //~ RACE
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, summer, 0);
  int *p = rows[0].cells;
  for (int i = 0; i < 9; i++)
    p[i] = 0; //~ RACE
  return 0;
}
