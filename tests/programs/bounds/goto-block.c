// Control jumps into the block, and its local is there.
// expect: bounds=true
int main(void) {
  int *p;
  goto inside;
  {
    int x;
  inside:
    x = 3;
    p = &x;
    *p = 4;
  }
  return 0;
}
