// A variable-length array is used in its block.
// expect: bounds=true
int main(void) {
  int sum = 0;
  for (int i = 1; i < 3; i++) {
    int a[i];
    int *p = a;
    p[i - 1] = i;
    sum += a[i - 1];
  }
  return sum;
}
