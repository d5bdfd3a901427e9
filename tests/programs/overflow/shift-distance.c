// The distance is checked.
// expect: overflow=true
int __VERIFIER_nondet_int(void);
int main(void) {
  int n = __VERIFIER_nondet_int();
  return n >= 0 && n < 31 ? 1 << n : 0;
}
