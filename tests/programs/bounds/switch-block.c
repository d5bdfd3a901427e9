// The local of the switch is used in all of its cases.
// expect: bounds=true
int pick(int c) {
  int *p = 0, sum = 0;
  switch (c) {
    int x;
  case 0:
    x = 1;
    p = &x;
    sum = *p;
    break;
  default:
    x = 2;
    p = &x;
    sum = *p;
  }
  return sum;
}
int main(void) { return pick(0) + pick(1); }
