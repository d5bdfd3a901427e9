// A program's own functions count, also where the library has some of these names.
// expect: assertions=true bounds=true races=true
#include <assert.h>
static int taken;
static unsigned long strlen(const char *text) { return text[0]; }
static void *alloca(unsigned long bytes) { return bytes ? &taken : 0; }
static void free(void *p) { *(int *)p = 0; }
static int setjmp(int *p) { return *p; }
static inline void *memcpy(void *to, const void *from, unsigned long bytes) { return from && bytes ? to : 0; }
int main(void) {
  char text[2] = {3, 4};
  int value = 1, other = 2;
  assert(strlen(text) == 3);
  assert(alloca(1) == &taken);
  free(&value);
  free(&value);
  assert(value == 0);
  memcpy(&value, &other, sizeof value);
  assert(value == 0 && setjmp(&other) == 2);
  return 0;
}
