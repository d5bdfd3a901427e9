// An arbitrary index is checked on both sides.
// expect: assertions=true races=true bounds=true
extern int __VERIFIER_nondet_int(void);
int v[4];
int main(void) {
  int i = __VERIFIER_nondet_int();
  if (i >= 0 && i < 4)
    v[i] = 1;
  return 0;
}
