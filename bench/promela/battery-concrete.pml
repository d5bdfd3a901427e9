/* Abstract threads (paper 2), Figure 6: the battery driver with N workers, one of which may have been dispatched. */
#ifndef N
#define N 2
#endif
int WorkerActive, InUseCount = 2, NumQueuedWorkers;
bit WantToRemove, ReadyToRemove, stopped;
#define ACCESS assert(!stopped)
inline drop() {
  ACCESS;
  atomic {
    InUseCount--;
    if
    :: InUseCount == 0 -> ReadyToRemove = 1
    :: else
    fi
  }
}
proctype unload() {
  int w;
  WantToRemove = 1;
  ACCESS;
  atomic { WorkerActive++; w = WorkerActive };
  if
  :: w == 1 ->
    if
    :: drop()
    :: NumQueuedWorkers++
    fi
  :: else
  fi;
  ACCESS;
  atomic { InUseCount--; w = InUseCount };
  if
  :: w > 0 -> ReadyToRemove
  :: else
  fi;
  stopped = 1
}
proctype worker() {
  int i;
  atomic { NumQueuedWorkers > 0 -> NumQueuedWorkers-- };
  do
  :: ACCESS;
    if
    :: WantToRemove -> drop(); break
    :: else
    fi;
    if
    :: ACCESS; InUseCount++; ACCESS;
      if
      :: WantToRemove -> ACCESS; InUseCount--
      :: else -> ACCESS; InUseCount--
      fi
    :: skip
    fi;
    ACCESS;
    atomic { WorkerActive--; i = WorkerActive };
    if
    :: i == 0 -> break
    :: i == 1
    :: else -> ACCESS; WorkerActive = 1
    fi
  od
}
init {
  byte k;
  atomic {
    if
    :: WorkerActive = 1; NumQueuedWorkers = 1
    :: skip
    fi;
    run unload();
    for (k : 1 .. N) { run worker() }
  }
}
