// A large factor makes all indices that are multiples of four the same.
// expect: races=false
#include <pthread.h>
char data[4];
void *f(void *arg) {
  unsigned long i = (unsigned long)arg;
  data[i * 0x4000000000000000UL] = 1; //~ RACE
  return 0;
}
int main(void) {
  pthread_t t;
  for (unsigned long i = 0; i < 12; i += 4)
    pthread_create(&t, 0, f, (void *)i);
  return 0;
}
