// There is no `int` near the float: what the cast gives has no meaning.
// todo: overflow=false
int main(void) {
  double number = 1e20;
  return (int)number == 3;
}
