// The same with an assignment, and a structure that a condition chooses.
// expect: bounds=false
struct pair {
  int a[2];
} one, two;
int main(int argc, char **argv) {
  int *p;
  p = (argc > 1 ? one : two).a;
  return *p; //~ ERROR
}
