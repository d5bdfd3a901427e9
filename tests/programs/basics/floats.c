// Floats are numbers of 32 and 64 bits, rounded to nearest.
// expect: assertions=true
#include <assert.h>
int main(void) {
  double tenth = 0.1, sum = 0;
  for (int i = 0; i < 3; i++)
    sum += tenth;
  assert(sum != 0.3 && sum > 0.3 && (float)sum == 0.3f);
  float third = 1.0f / 3;
  assert(third < 0.34f && -third <= 0 && !(third == 1.0 / 3));
  int whole = 7.9;
  unsigned char byte = (unsigned char)3.5f;
  assert(whole == 7 && byte == 3 && (int)-2.5 == -2);
  double zero = 0;
  assert(!zero && tenth && 16777216.0f + 1 == 16777216.0f);
  return 0;
}
