// Row and column stay inside the matrix.
// expect: assertions=true races=true bounds=true
int m[2][3];
int main(void) {
  for (int i = 0; i < 2; i++)
    m[i][2] = i;
  return m[1][2] - 1;
}
