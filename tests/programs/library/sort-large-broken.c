// Another thread reads what is sorted, also where elements are large.
// expect: races=false
#include <pthread.h>
#include <stdlib.h>
struct entry {
  char name[300];
  int key, value;
};
static int order(const void *left, const void *right) {
  int one = ((const struct entry *)left)->key, other = ((const struct entry *)right)->key;
  return (one > other) - (one < other);
}
struct entry entries[2];
static void *look(void *argument) {
  return entries[1].value == 10 ? &entries : 0; //~ RACE
}
int main(void) {
  entries[0].key = 2;
  entries[0].value = 20;
  entries[1].key = 1;
  entries[1].value = 10;
  pthread_t id;
  pthread_create(&id, 0, look, 0);
  qsort(entries, 2, sizeof *entries, order); //~ RACE
  return 0;
}
