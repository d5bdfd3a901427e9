// The pointer may be null when it is called.
// expect: bounds=false
static int one(void) { return 1; }
int (*f)(void);
int main(int argc, char **argv) {
  if (argc > 1)
    f = one;
  return f(); //~ ERROR
}
