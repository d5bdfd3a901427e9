// todo: assertions=true
// A function that fails sets errno to a positive number. What it is after a success is not looked at, so this is
// not proved yet; it must never be refuted.
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
  char text[8];
  errno = 0;
  if (read(0, text, 8) < 0)
    assert(errno > 0);
  errno = 0;
  if (open("file", O_RDONLY) == -1)
    assert(errno > 0);
  errno = 0;
  if (!fopen("file", "r"))
    assert(errno > 0);
  return 0;
}
