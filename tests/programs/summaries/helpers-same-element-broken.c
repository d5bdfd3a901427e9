// Like helpers-in-frame.c, but the last helper gets the element of the first one, too.
// expect: races=false
#include <pthread.h>

struct part {
  pthread_t id;
  int output;
};

static void *run(void *argument) {
  struct part *part = argument;
  part->output++; //~ RACE
  return 0;
}

static void *work(void *unused) {
  struct part parts[2];
  pthread_t again;
  for (int i = 0; i < 2; i++) {
    parts[i].output = 0;
    pthread_create(&parts[i].id, 0, run, &parts[i]);
  }
  pthread_create(&again, 0, run, &parts[0]);
  for (int i = 0; i < 2; i++) pthread_join(parts[i].id, 0);
  pthread_join(again, 0);
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, work, 0);
  pthread_create(&two, 0, work, 0);
  return 0;
}
