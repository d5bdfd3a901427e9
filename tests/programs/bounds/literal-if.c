// The literal belongs to the block around the if.
// expect: bounds=true
int main(int argc, char **argv) {
  int *p = (int[]){1, 2};
  if (argc)
    p[1] = 3;
  return p[1];
}
