// Cleanup handlers run when a thread exits, the last one first; popped ones only if asked for.
// todo: assertions=true races=true
#include <assert.h>
#include <pthread.h>
static int trail;
static void note(void *digit) { trail = trail * 10 + (int)(long)digit; }
static void leave(void) { pthread_exit(0); }
static void *work(void *argument) {
  pthread_cleanup_push(note, (void *)1);
  pthread_cleanup_push(note, (void *)2);
  pthread_cleanup_push(note, (void *)3);
  pthread_cleanup_pop(0);
  leave();
  pthread_cleanup_pop(0);
  pthread_cleanup_pop(0);
  return 0;
}
int main(void) {
  pthread_t one;
  pthread_create(&one, 0, work, 0);
  pthread_join(one, 0);
  assert(trail == 21);
  return 0;
}
