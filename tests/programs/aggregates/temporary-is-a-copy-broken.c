// What is changed after the copy does not show in it.
// expect: assertions=false races=true
#include <assert.h>
struct pair {
  int a[2];
} one = {{1, 2}}, two = {{3, 4}};
static int read_after_change(const int *p) {
  one.a[0] = 9;
  two.a[0] = 9;
  return p[0];
}
int main(int argc, char **argv) {
  assert(read_after_change((argc > 1 ? one : two).a) == 9); //~ ERROR
  return 0;
}
