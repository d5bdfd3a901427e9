// A pointer to a local of a block is used after the block.
// expect: bounds=false
int main(void) {
  int *p;
  {
    int x = 1;
    p = &x;
  }
  return *p; //~ ERROR
}
