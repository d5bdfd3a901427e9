// The local of the switch is used after it.
// expect: bounds=false
int pick(int c) {
  int *p = 0, y = 0;
  p = &y;
  switch (c) {
    int x;
  case 0:
    x = 1;
    p = &x;
  }
  return *p; //~ ERROR
}
int main(void) { return pick(1) + pick(0); }
