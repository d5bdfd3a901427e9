// A compound literal of a scalar type lives as long as the block around it (C11 6.5.2.5p5).
// expect: bounds=true
int main(void) {
  int *p, sum = 0;
  for (int i = 0; i < 2; i++) {
    p = &(int){4};
    sum += *p;
  }
  return sum - 8;
}
