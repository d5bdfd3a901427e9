// The row index is one too large.
// expect: assertions=true races=true bounds=false
int m[2][3];
int main(void) {
  for (int i = 0; i < 3; i++)
    m[i][2] = i; //~ ERROR
  return m[1][2] - 1;
}
