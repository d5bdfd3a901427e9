// The second index is in the next row.
// expect: bounds=false
int m[2][3];
int main(void) {
  int i = 3;
  return m[0][i]; //~ ERROR
}
