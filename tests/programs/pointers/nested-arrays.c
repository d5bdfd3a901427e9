// Inner arrays of elements, by two indices, and the members beside them.
// expect: races=true
#include <pthread.h>
struct row {
  int cells[2];
  int sum;
} rows[3];
void *summer(void *arg) {
  for (int i = 0; i < 3; i++)
    rows[i].sum = 1;
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, summer, 0);
  for (int i = 0; i < 2; i++)
    rows[0].cells[i] = 0;
  return 0;
}
