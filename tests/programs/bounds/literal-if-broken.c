// The branch of an if is a block also without braces.
// expect: bounds=false
int main(int argc, char **argv) {
  int one[1] = {1}, *p = one;
  if (argc > 1)
    p = (int[]){1};
  return *p; //~ ERROR
}
