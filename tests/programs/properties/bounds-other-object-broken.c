// An index that leaves its array is an error also where it lands in another object.
// expect: assertions=true races=true bounds=false
int small[2] = {1, 2};
int large[64];
int main(void) {
  int i = 9;
  small[i] = 3; //~ ERROR
  return large[0];
}
