// Two-dimensional arrays are stored row by row.
// expect: assertions=true races=true
#include <assert.h>
int m[3][4];
int main(void) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++)
      m[i][j] = 10 * i + j;
  assert(m[1][2] == 12);
  int (*row)[4] = &m[2];
  assert((*row)[3] == 23);
  int k[2][2] = {{1, 2}, {3}};
  assert(k[1][0] == 3 && k[1][1] == 0);
  return 0;
}
