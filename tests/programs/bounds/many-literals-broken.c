// A write that may reach many string literals, and reaches one.
// expect: bounds=false
char buffer[4];

char *name(int number) {
  switch (number) {
  case 0: return "zero";
  case 1: return "one";
  case 2: return "two";
  case 3: return "three";
  case 4: return "four";
  case 5: return "five";
  case 6: return "six";
  case 7: return "seven";
  case 8: return "eight";
  case 9: return "nine";
  default: return buffer;
  }
}

int main(void) {
  char *p = name(9);
  p[1] = 'x'; //~ ERROR
  return 0;
}
