// A walk over the bytes of a structure continues from its first member, an array, into the next one.
// expect: assertions=false races=true
#include <assert.h>
#include <pthread.h>
struct {
  char tag[4];
  int id;
} record;
void *other(void *arg) { return 0; }
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, other, 0);
  char *p = (char *)&record;
  for (int i = 0; i < (int)sizeof record; i++)
    p[i] = 1;
  assert(record.id == 0); //~ ERROR
  pthread_join(t, 0);
  return 0;
}
