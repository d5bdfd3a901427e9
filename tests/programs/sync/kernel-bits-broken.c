// Like kernel-bits.c, but the bit is tested and set in two steps.
// expect: assertions=false races=false
#include <assert.h>
#include <pthread.h>
extern int test_and_set_bit(int number, unsigned long *words);
extern void clear_bit(int number, volatile unsigned long *words);
extern int printk(const char *format, ...);
unsigned long words[2];
int users;
void *open_device(void *arg) {
  if (words[1] & 2) //~ RACE
    return 0;
  test_and_set_bit(65, words); //~ RACE
  users++; //~ RACE
  assert(users == 1); //~ ERROR
  printk("<6>device: %d user\n", users);
  users--;
  clear_bit(65, words); //~ RACE
  return arg;
}
int main(void) {
  pthread_t a, b;
  assert(!test_and_set_bit(3, words));
  assert(words[0] == 8);
  pthread_create(&a, 0, open_device, 0);
  pthread_create(&b, 0, open_device, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(words[1] == 0);
  return 0;
}
