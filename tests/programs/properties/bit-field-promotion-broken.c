// A bit-field of 31 bits is promoted to `int`, so it overflows.
// expect: overflow=false
struct { unsigned a : 31; } s;
int main(void) {
  s.a = 0x7fffffff;
  s.a++; //~ ERROR
  return 0;
}
