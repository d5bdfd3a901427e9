// The thread started by the label runs concurrently with main.
// expect: assertions=true races=false
extern void __CPROVER_atomic_begin(void);
extern void __CPROVER_atomic_end(void);
int n;
void f(void) {
  n++; //~ RACE
}
int main(void) {
__CPROVER_ASYNC_1:
  f();
  n++; //~ RACE
  return 0;
}
