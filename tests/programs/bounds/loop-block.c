// Each round of the loop uses its own local.
// expect: bounds=true
int main(void) {
  int sum = 0;
  for (int i = 0; i < 3; i++) {
    int x = i;
    int *p = &x;
    sum += *p;
  }
  return sum;
}
