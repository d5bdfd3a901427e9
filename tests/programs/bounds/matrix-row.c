// Both indices are in range, and an address past the row is not used.
// expect: bounds=true
int m[2][3];
int main(void) {
  int *end = &m[0][3];
  int sum = 0;
  for (int *p = m[0]; p != end; p++)
    sum += *p;
  return sum + m[1][2];
}
