/* What random programs use of it. */
#ifndef FUZZ_STDLIB_H
#define FUZZ_STDLIB_H
#include <stddef.h>
extern void *malloc(size_t);
extern void *calloc(size_t, size_t);
extern void *realloc(void *, size_t);
extern void free(void *);
extern void abort(void) __attribute__((__noreturn__));
extern void exit(int) __attribute__((__noreturn__));
extern int rand(void);
#endif
