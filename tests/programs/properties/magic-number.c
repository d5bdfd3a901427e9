// No input reaches the error after two contradicting comparisons.
// expect: assertions=true races=true
extern void abort(void);
void reach_error(void) { }
extern int __VERIFIER_nondet_int(void);
int main(void) {
  int x = __VERIFIER_nondet_int();
  if (x == 12345) {
    if (x % 5 != 0)
      reach_error();
  }
  return 0;
}
