// A lookup that returned NULL is used.
// expect: assertions=true races=true bounds=false
#include <stddef.h>
struct entry { int key, value; } table[2] = {{1, 10}, {2, 20}};
static struct entry *lookup(int key) {
  for (int i = 0; i < 2; i++)
    if (table[i].key == key)
      return &table[i];
  return NULL;
}
int main(void) {
  struct entry *e = lookup(3);
    e->value = 30; //~ ERROR
  return 0;
}
