// Like helpers.c, but a helper tells other threads of what it shares with the thread that started it.
// expect: races=false
#include <pthread.h>

static int *_Atomic published;

static void *publish(void *argument) {
  int *expected = 0;
  __atomic_compare_exchange_n(&published, &expected, argument, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return 0;
}

static void *work(void *unused) {
  int own = 1;
  pthread_t id;
  pthread_create(&id, 0, publish, &own);
  pthread_join(id, 0);
  int *other = published;
  *other = 2; //~ RACE
  own = 3; //~ RACE
  for (;;) {}
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, work, 0);
  pthread_create(&two, 0, work, 0);
  return 0;
}
