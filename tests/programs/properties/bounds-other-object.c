// Indices that stay in their arrays.
// expect: assertions=true races=true bounds=true
int small[2] = {1, 2};
int large[64];
int main(void) {
  int i = 9;
  large[i] = 3;
  return small[i / 9];
}
