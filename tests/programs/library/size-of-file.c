// No file has a negative size.
// expect: assertions=true
#include <assert.h>
#include <sys/stat.h>
int main(void) {
  struct stat status;
  if (stat("file", &status) == 0)
    assert(status.st_size >= 0);
  return 0;
}
