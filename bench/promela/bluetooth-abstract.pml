/* The abstract threads of tests/specifications/figure5.tspec with N workers. */
#ifndef N
#define N 2
#endif
int pIO = 1;
bit sF, sE, st;
active proctype Stop() {
  sF = 1;
  pIO--;
  if
  :: atomic { pIO == 0 -> sE = 1 }
  :: pIO != 0
  fi;
  sE;
  st = 1
}
active [N] proctype Worker() {
  pIO++;
  if
  :: !sF -> assert(!st); pIO--
  :: pIO--
  fi;
  if
  :: atomic { pIO == 0 -> sE = 1 }
  :: skip
  fi
}
