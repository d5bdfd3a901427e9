// expect: races=false
// Both threads call the same function; the second one passes what it was started with: memory of the first.
#include <pthread.h>

struct counts { int done, failed; };
static struct counts ours, theirs;

static void note(struct counts *counts) {
  counts->done++; //~ RACE
}

static void *work(void *argument) {
  note(argument);
  return 0;
}

int main(void) {
  pthread_t id;
  pthread_create(&id, 0, work, &ours);
  note(&ours);
  pthread_join(id, 0);
  return theirs.done;
}
