// The walk is one byte too long.
// expect: bounds=false
struct s { int a[4]; int b; } s;
int main(void) {
  unsigned char *p = (unsigned char *)&s;
  unsigned sum = 0;
  for (unsigned i = 0; i <= sizeof s; i++)
    sum += p[i]; //~ ERROR
  return sum;
}
