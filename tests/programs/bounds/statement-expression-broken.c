// The value of a statement expression points into its block.
// expect: bounds=false
int main(void) {
  int *p = ({ int y = 2; &y; });
  return *p; //~ ERROR
}
