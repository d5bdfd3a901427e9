// The last member of an element of an array has one element.
// expect: bounds=false
struct V { int n; int d[1]; } v[2];
int main(void) {
  v[0].d[1] = 7; //~ ERROR
  return 0;
}
