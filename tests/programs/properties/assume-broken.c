// The assumption is weaker than the assertion.
// expect: assertions=false races=true
extern void abort(void);
void reach_error(void) { }
extern void __VERIFIER_assume(int);
extern int __VERIFIER_nondet_int(void);
int main(void) {
  int x = __VERIFIER_nondet_int();
  __VERIFIER_assume(x > 2 && x < 10);
  if (x == 3)
    reach_error(); //~ ERROR
  return 0;
}
