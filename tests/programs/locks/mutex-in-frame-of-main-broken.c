// A counter in a local structure of main, which threads get by its address: nobody takes its mutex.
// expect: races=false
#include <pthread.h>
struct box { int value; pthread_mutex_t mutex; int *place; };
struct job { pthread_t id; struct box *box; };
void put(struct box *box) {
  box->value++; //~ RACE
}
void *work(void *argument) {
  struct job *job = argument;
  put(job->box);
  return 0;
}
int main(void) {
  struct box box;
  struct job jobs[2];
  box.value = 0;
  pthread_mutex_init(&box.mutex, 0);
  for (int i = 0; i < 2; i++) {
    jobs[i].box = &box;
    pthread_create(&jobs[i].id, 0, work, &jobs[i]);
  }
  for (int i = 0; i < 2; i++) pthread_join(jobs[i].id, 0);
  return 0;
}
