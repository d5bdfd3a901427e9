// What was read stays the same in each copy of it.
// todo: assertions=true
#include <assert.h>
#include <string.h>
#include <unistd.h>
struct message {
  int kind;
  char text[60];
};
int main(void) {
  struct message read_first, copy;
  if (read(0, &read_first, sizeof read_first) != sizeof read_first)
    return 0;
  memcpy(&copy, &read_first, sizeof copy);
  memmove(read_first.text + 1, read_first.text, 20);
  assert(copy.kind == read_first.kind && copy.text[7] == read_first.text[8]);
  return 0;
}
