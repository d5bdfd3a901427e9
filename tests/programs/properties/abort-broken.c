// The error comes before abort.
// expect: assertions=false races=true
extern void abort(void);
void reach_error(void) { }
int main(void) {
  reach_error(); //~ ERROR
  abort();
  return 0;
}
