// A procedure is called before and after each of several starts, so that it is analysed for some of the calls together. It starts
// no thread.
// expect: races=true
// args: --engine summaries
#include <pthread.h>

static int data, calls;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *last(void *unused) {
  data = data + 1;
  return 0;
}

static void count(void) {
  pthread_mutex_lock(&lock);
  calls++;
  pthread_mutex_unlock(&lock);
}

static void *work0(void *unused) {
  count();
  return 0;
}

static void *work1(void *unused) {
  count();
  return 0;
}

static void *work2(void *unused) {
  count();
  return 0;
}

static void *work3(void *unused) {
  count();
  return 0;
}

static void *work4(void *unused) {
  count();
  return 0;
}

static void *work5(void *unused) {
  count();
  return 0;
}

static void *work6(void *unused) {
  count();
  return 0;
}

static void *work7(void *unused) {
  count();
  return 0;
}

static void *work8(void *unused) {
  count();
  return 0;
}

static void *work9(void *unused) {
  count();
  return 0;
}

int main(void) {
  pthread_t id;
  count();
  pthread_create(&id, 0, work0, 0);
  count();
  pthread_create(&id, 0, work1, 0);
  count();
  pthread_create(&id, 0, work2, 0);
  count();
  pthread_create(&id, 0, work3, 0);
  count();
  pthread_create(&id, 0, work4, 0);
  count();
  pthread_create(&id, 0, work5, 0);
  count();
  pthread_create(&id, 0, work6, 0);
  count();
  pthread_create(&id, 0, work7, 0);
  count();
  pthread_create(&id, 0, work8, 0);
  count();
  pthread_create(&id, 0, work9, 0);
  count();
  data = 1;
  pthread_create(&id, 0, last, 0);
  count();
  return 0;
}
