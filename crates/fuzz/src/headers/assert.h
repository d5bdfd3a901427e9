/* As in glibc. */
extern void __assert_fail(const char *, const char *, unsigned int, const char *) __attribute__((__noreturn__));
#undef assert
#define assert(expr) \
  ((void)sizeof((expr) ? 1 : 0), __extension__({ \
     if (expr) \
       ; \
     else \
       __assert_fail(#expr, __FILE__, __LINE__, __extension__ __PRETTY_FUNCTION__); \
   }))
