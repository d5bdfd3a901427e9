// A loop stays inside the array.
// expect: assertions=true races=true bounds=true
int v[3];
int main(void) {
  for (int i = 0; i < 3; i++)
    v[i] = i;
  return 0;
}
