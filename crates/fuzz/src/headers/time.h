/* What random programs use of it. */
#ifndef FUZZ_TIME_H
#define FUZZ_TIME_H
struct timespec { long tv_sec; long tv_nsec; };
#endif
