// A constant is read through a pointer to what may be written elsewhere.
// expect: bounds=true
static const int limits[2] = { 1, 2 };
static int values[2];
static int sum(int *p) { return p[0] + p[1]; }
int main(void) {
  values[0] = 3;
  return sum((int *)limits) + sum(values);
}
