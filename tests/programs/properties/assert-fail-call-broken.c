// The direct call of __assert_fail is reached.
// expect: assertions=false races=true
extern void __assert_fail(const char *, const char *, unsigned int, const char *) __attribute__((__noreturn__));
int main(void) {
  int x = 2;
  ((x > 2) ? (void)0 : __assert_fail("x > 2", "f.c", 4, "main")); //~ ERROR
  return 0;
}
