// __VERIFIER_assume cuts off the other runs.
// expect: races=true
// expect: assertions=true
extern void abort(void);
void reach_error(void) { }
extern void __VERIFIER_assume(int);
extern int __VERIFIER_nondet_int(void);
int main(void) {
  int x = __VERIFIER_nondet_int();
  __VERIFIER_assume(x > 3 && x < 10);
  if (x == 3)
    reach_error();
  return 0;
}
