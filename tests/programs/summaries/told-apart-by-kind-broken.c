// expect: races=false
// Both threads call the same functions, and the second one may pass what the first one does.
#include <pthread.h>

struct counts { int done, failed; };
static struct counts ours, theirs;

static struct counts *either(struct counts *counts, struct counts *other, int first) {
  return first ? counts : other;
}

static void note(struct counts *counts, int depth) {
  if (depth > 0) note(counts, depth - 1);
  counts->done++; //~ RACE
}

static void *work(void *argument) {
  note(either(&theirs, &ours, 0), 1);
  return 0;
}

int main(void) {
  pthread_t id;
  pthread_create(&id, 0, work, 0);
  note(either(&ours, &ours, 0), 0);
  pthread_join(id, 0);
  return theirs.done;
}
