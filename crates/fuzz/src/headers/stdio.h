/* What random programs use of it. */
#ifndef FUZZ_STDIO_H
#define FUZZ_STDIO_H
#include <stddef.h>
extern int printf(const char *, ...);
extern int puts(const char *);
#endif
