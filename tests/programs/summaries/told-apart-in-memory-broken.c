// expect: races=false
// Both threads call the same function, and the second one passes what the first one has left in a variable.
#include <pthread.h>

struct counts { int done, failed; };
static struct counts ours, theirs;
static struct counts *current = &theirs;

static void note(struct counts *counts) {
  counts->done++; //~ RACE
}

static void *work(void *argument) {
  note(current);
  return 0;
}

int main(void) {
  pthread_t id;
  current = &ours;
  pthread_create(&id, 0, work, 0);
  note(&ours);
  pthread_join(id, 0);
  return theirs.done;
}
