// A negative index in the middle of an array.
// expect: bounds=true
struct { int b; int a[4]; } s;
int main(void) {
  int *p = &s.a[2];
  return p[-2];
}
