// Lengths in the name of a type that is cast to are computed with the cast.
// expect: assertions=true races=true overflow=true
#include <assert.h>
int rows[6] = {1, 2, 3, 4, 5, 6};
int other = 2;
static int at(int n, int i, int j) { return ((int(*)[n])rows)[i][j]; }
int main(void) {
  int i = 0;
  (void)(char(*)[1 + i++]) rows;
  assert(i == 1);
  assert(at(3, 1, 0) == 4 && at(2, 1, 0) == 3);
  for (int n = 1; n < 4; n++)
    assert(((int(*)[n])rows)[1][0] == n + 1);
  typedef int row[other];
  other = 5;
  assert(((row *)rows)[1][1] == 4);
  int(*p)[3] = i ? (int(*)[i + 2]) rows : 0;
  assert(p[1][0] == 4);
  return 0;
}
