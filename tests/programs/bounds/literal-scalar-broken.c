// The block of the compound literal was left.
// expect: bounds=false
int main(void) {
  int *p;
  { p = &(int){4}; }
  return *p; //~ ERROR
}
