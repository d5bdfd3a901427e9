// Control jumps out of the block with a pointer to its local.
// expect: bounds=false
int main(void) {
  int *p;
  {
    int x = 3;
    p = &x;
    goto out;
  }
out:
  return *p; //~ ERROR
}
