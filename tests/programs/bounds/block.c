// A pointer to a local of a block is used inside the block only.
// expect: bounds=true
int main(void) {
  int *p, y = 2, sum = 0;
  {
    int x = 1;
    p = &x;
    sum += *p;
  }
  p = &y;
  return sum + *p;
}
