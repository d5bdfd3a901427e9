/* What random programs use of it. */
#ifndef FUZZ_STRING_H
#define FUZZ_STRING_H
#include <stddef.h>
extern void *memcpy(void *, const void *, size_t);
extern void *memmove(void *, const void *, size_t);
extern void *memset(void *, int, size_t);
extern int memcmp(const void *, const void *, size_t) __attribute__((__pure__));
extern void *memchr(const void *, int, size_t) __attribute__((__pure__));
extern char *strcpy(char *, const char *);
extern char *strncpy(char *, const char *, size_t);
extern char *strcat(char *, const char *);
extern int strcmp(const char *, const char *) __attribute__((__pure__));
extern int strncmp(const char *, const char *, size_t) __attribute__((__pure__));
extern char *strchr(const char *, int) __attribute__((__pure__));
extern size_t strlen(const char *) __attribute__((__pure__));
#endif
