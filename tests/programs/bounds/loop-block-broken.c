// The local of the last round is another object than that of this one.
// expect: bounds=false
int main(void) {
  int *last = 0, sum = 0;
  for (int i = 0; i < 3; i++) {
    int x = i;
    if (last)
      sum += *last; //~ ERROR
    last = &x;
  }
  return sum;
}
