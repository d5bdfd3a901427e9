// expect: races=false
// Each thread has a variable that says where it counts; the first thread's is set by the other one.
#include <pthread.h>

struct counts { int done, failed; };
static struct counts ours, theirs;
static _Thread_local struct counts *current;
static struct counts **first;
static pthread_mutex_t choosing = PTHREAD_MUTEX_INITIALIZER;

static void note(void) {
  pthread_mutex_lock(&choosing);
  struct counts *counts = current;
  pthread_mutex_unlock(&choosing);
  counts->done++; //~ RACE
}

static void *work(void *argument) {
  pthread_mutex_lock(&choosing);
  *first = &theirs;
  current = &theirs;
  pthread_mutex_unlock(&choosing);
  note();
  return 0;
}

int main(void) {
  pthread_t id;
  first = &current;
  current = &ours;
  pthread_create(&id, 0, work, 0);
  note();
  pthread_join(id, 0);
  return ours.done + theirs.done;
}
