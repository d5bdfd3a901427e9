// The label __CPROVER_ASYNC_1 starts the call as a new thread.
// expect: assertions=true races=true
extern void __CPROVER_atomic_begin(void);
extern void __CPROVER_atomic_end(void);
int n;
void f(void) {
  __CPROVER_atomic_begin();
  n++;
  __CPROVER_atomic_end();
}
int main(void) {
__CPROVER_ASYNC_1:
  f();
  __CPROVER_atomic_begin();
  n++;
  __CPROVER_atomic_end();
  return 0;
}
