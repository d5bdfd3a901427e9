// The threads that were started can run before the program ends, though nothing stands between.
// expect: races=false
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

int shared;

void *writer(void *argument) {
    shared = 1; //~ RACE
    return 0;
}

int main(void) {
    pthread_t first, second;
    int failed = 1;
    pthread_create(&first, 0, writer, 0);
    pthread_create(&second, 0, writer, 0);
    if (failed)
        abort();
    pthread_join(first, 0);
    pthread_join(second, 0);
    return 0;
}
