// An arbitrary index is checked on one side only.
// expect: assertions=true races=true bounds=false
extern int __VERIFIER_nondet_int(void);
int v[4];
int main(void) {
  int i = __VERIFIER_nondet_int();
  if (i < 4)
    v[i] = 1; //~ ERROR
  return 0;
}
