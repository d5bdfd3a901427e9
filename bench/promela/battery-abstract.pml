/* The abstract threads of tests/specifications/figure7.tspec with N workers. */
#ifndef N
#define N 2
#endif
int W, I = 2, T;
bit R, S;
#define COMMON (I >= 0 && W >= 0 && T >= 0 && (!R || I == 0) && (T <= 0 || (!S && W > 0)))
inline drop() {
  I--;
  if
  :: I == 0 -> R = 1
  :: else
  fi
}
proctype Unload() {
  assert(COMMON && !S);
  if
  :: atomic { W == 0 -> W++ };
    assert(COMMON && !S);
    if
    :: atomic { drop() }
    :: T++
    fi
  :: atomic { W != 0 -> W++ }
  fi;
  assert(COMMON && !S && I >= 1);
  if
  :: atomic { I > 1 -> I-- }; assert(COMMON && !S); R
  :: atomic { I == 1 -> I-- }
  fi;
  assert(COMMON && !S);
  S = 1;
  assert(COMMON)
}
proctype Worker() {
  assert(COMMON);
  atomic { T > 0 -> T-- };
  do
  :: assert(COMMON && !S && I >= 1 && W >= 1);
    if
    :: I++; assert(COMMON && !S && I >= 2 && W >= 1); I--
    :: atomic { drop() }; break
    :: atomic { W == 1 -> W-- }; break
    :: atomic { W == 2 -> W-- }
    :: atomic { W > 2 -> W-- }; assert(COMMON && !S && I >= 1 && W >= 1); W = 1
    fi
  od;
  assert(COMMON)
}
init {
  byte k;
  atomic {
    if
    :: W = 1; T = 1
    :: skip
    fi;
    run Unload();
    for (k : 1 .. N) { run Worker() }
  }
}
