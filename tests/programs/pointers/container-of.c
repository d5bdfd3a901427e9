// offsetof leads from a member back to its struct.
// expect: assertions=true races=true
#include <assert.h>
#include <stddef.h>
struct list { struct list *next; };
struct item { int id; struct list link; int extra; };
#define container_of(ptr, type, member) ((type *)((char *)(ptr) - offsetof(type, member)))
int main(void) {
  struct item x = {7, {0}, 8};
  struct list *l = &x.link;
  struct item *p = container_of(l, struct item, link);
  assert(p == &x);
  assert(p->id == 7);
  p->extra = 9;
  assert(x.extra == 9);
  return 0;
}
