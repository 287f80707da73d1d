      00:00               release search 1.0.0
      00:02  prod search  1.0.0: the move begins with the ring `canary`
             prod search  1.0.0: the ring `canary` begins
             prod search  1.0.0: 1 of 1 changed place of the ring `canary` have the revision, or get it now
             prod search  1.0.0: waits for failures: 1 place is not published yet
      00:03  prod search  1.0.0: waits for compliant: 0 of 1 reconciler applied the change, 100% are needed
      00:08  prod search  1.0.0: waits for pause: good since 2026-03-02T08:08:00Z; 1h end at 2026-03-02T09:08:00Z
      01:08  prod search  1.0.0: the ring `canary` is done
                              failures: 0 of 1 reconciler failed, at most 0 may fail
                              compliant: 1 of 1 reconciler applied the change
                              pause: good since 2026-03-02T08:08:00Z; 1h end at 2026-03-02T09:08:00Z
             prod search  1.0.0: the ring `stores` begins
             prod search  1.0.0: 3 of 3 changed places of the ring `stores` have the revision, or get it now
             prod search  1.0.0: waits for failures: 3 places are not published yet
      01:09  prod search  1.0.0: waits for compliant: 0 of 3 reconcilers applied the change, 100% are needed
      01:13  prod search  1.0.0: the ring `stores` is done
                              failures: 0 of 4 reconcilers failed, at most 0 may fail
                              compliant: 3 of 3 reconcilers applied the change
             prod search  1.0.0: all rings are done

Expectations
      00:30  ok      canary-1 has search 1.0.0
      00:30  ok      store-[1-3] lacks search 1.0.0
      01:13  ok      prod has search 1.0.0 by 3h
