// What was written to a pipe is read from it.
// todo: assertions=true
#include <assert.h>
#include <unistd.h>
int main(void) {
  int ends[2];
  char sent = 'x', got;
  if (pipe(ends) != 0 || write(ends[1], &sent, 1) != 1)
    return 0;
  if (read(ends[0], &got, 1) == 1)
    assert(got == sent);
  return 0;
}
