// A loop runs one element past the array.
// expect: assertions=true races=true bounds=false
int v[3];
int main(void) {
  for (int i = 0; i <= 3; i++)
    v[i] = i; //~ ERROR
  return 0;
}
