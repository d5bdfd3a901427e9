/* Abstract threads (paper 2), Figure 4: the Bluetooth driver with N workers. */
#ifndef N
#define N 2
#endif
int pendingIO = 1;
bit stoppingFlag, stoppingEvent, stopped;
inline IoDecrement() {
  pendingIO--;
  if
  :: pendingIO == 0 -> stoppingEvent = 1
  :: else
  fi
}
active proctype PnpStop() {
  stoppingFlag = 1;
  IoDecrement();
  stoppingEvent;
  stopped = 1
}
active [N] proctype PnpAdd() {
  short status;
  pendingIO++;
  if
  :: stoppingFlag -> status = -1
  :: else -> status = 1
  fi;
  if
  :: status > 0 -> assert(!stopped)
  :: else
  fi;
  IoDecrement()
}
