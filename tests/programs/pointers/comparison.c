// Pointers into one array compare like their indices.
// expect: assertions=true races=true
#include <assert.h>
int main(void) {
  int v[4], *p = v, *end = v + 4, n = 0;
  while (p != end) {
    *p++ = n++;
  }
  assert(&v[1] < &v[3]);
  assert(p == end && v[3] == 3 && &v[0] == v);
  int other;
  assert(&other != v);
  return 0;
}
