// The distance may be the width.
// expect: overflow=false
int __VERIFIER_nondet_int(void);
int main(void) {
  int n = __VERIFIER_nondet_int();
  return n >= 0 && n <= 32 ? 5 >> n : 0; //~ ERROR
}
