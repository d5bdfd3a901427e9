// The array of the last round is another one.
// expect: bounds=false
int main(void) {
  int *p = 0;
  for (int i = 1; i < 3; i++) {
    int a[i];
    if (p)
      *p = 1; //~ ERROR
    p = a;
  }
  return 0;
}
