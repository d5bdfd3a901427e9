// Handles overwrite each other, since their index is rounded; half of the threads are not joined.
// expect: races=false
#include <pthread.h>
int data[10];
pthread_t t[10];
void *f(void *arg) {
  *(int *)arg = 1; //~ RACE
  return 0;
}
int main(void) {
  for (int i = 0; i < 10; i++)
    pthread_create(&t[i - i % 2], 0, f, &data[i]);
  for (int i = 0; i < 10; i += 2)
    pthread_join(t[i - i % 2], 0);
  int sum = 0;
  for (int i = 0; i < 10; i++)
    sum += data[i]; //~ RACE
  return sum;
}
