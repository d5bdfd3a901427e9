// CoMuS (paper 5), Figure 4.2, broken: claim1 is raised after turn is given away.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
atomic_bool claim0, claim1;
bool cs0, cs1;
atomic_int turn;
void *t0(void *arg) {
  (void)arg;
  while (true) {
    claim0 = true;
    turn = 1;
    while (claim1 && turn != 0)
      ;
    cs0 = true;
    bool other = cs1; //~ RACE
    assert(!other); //~ ERROR
    cs0 = false;
    claim0 = false;
  }
  return 0;
}
void *t1(void *arg) {
  (void)arg;
  while (true) {
    turn = 0;
    claim1 = true;
    while (claim0 && turn != 1)
      ;
    cs1 = true; //~ RACE
    cs1 = false; //~ RACE
    claim1 = false;
  }
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, t0, 0);
  pthread_create(&b, 0, t1, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
