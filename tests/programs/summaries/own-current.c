// expect: races=true
// args: --engine summaries
// Each thread has a variable of its own that says where it counts.
#include <pthread.h>

struct counts { int done, failed; };
static struct counts ours, theirs;
static _Thread_local struct counts *current;

static void choose(struct counts *counts) { current = counts; }

static void note(void) {
  struct counts *counts = current;
  if (counts) counts->done++;
}

static void *work(void *argument) {
  choose(&theirs);
  note();
  return 0;
}

int main(void) {
  pthread_t id;
  pthread_create(&id, 0, work, 0);
  choose(&ours);
  note();
  pthread_join(id, 0);
  return ours.done + theirs.done;
}
