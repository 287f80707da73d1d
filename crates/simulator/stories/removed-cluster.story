      00:00             silence canary-1
      01:00             change c1
      01:01  prod       c1: it is the newest revision that can move
             prod       c1: the gates hold
             prod       c1: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop  c1: the move begins with the ring `canary`
             prod shop  c1: the ring `canary` begins
             prod shop  c1: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             prod shop  c1: waits for failures: 2 places are not published yet
      01:02  prod shop  c1: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed, 1 are silent
      06:00             remove canary-1
             prod shop  removed-canary-1: it moves before `c1`, which continues after it
             prod shop  removed-canary-1: nothing changes in the ring `canary`
             prod shop  removed-canary-1: the ring `stores` begins
             prod shop  removed-canary-1: 1 of 1 changed place of the ring `stores` have the revision, or get it now
             prod shop  removed-canary-1: waits for failures: 1 place is not published yet
      06:01  prod shop  removed-canary-1: nothing changes in the ring `stores`
             prod shop  removed-canary-1: all rings are done
             prod shop  removed-canary-1: the move continues after the newest values
             prod shop  removed-canary-1: the ring `canary` is done
                            failures: 0 of 1 reconciler failed, at most 0 may fail
                            compliant: 1 of 1 reconciler applied the change
             prod shop  removed-canary-1: the ring `stores` begins
             prod shop  removed-canary-1: 6 of 6 changed places of the ring `stores` have the revision, or get it now
             prod shop  removed-canary-1: waits for failures: 6 places are not published yet
      06:02  prod shop  removed-canary-1: waits for compliant: 0 of 6 reconcilers applied the change, 100% are needed
      06:08  prod shop  removed-canary-1: the ring `stores` is done
                            failures: 0 of 7 reconcilers failed, at most 0 may fail
                            compliant: 6 of 6 reconcilers applied the change
             prod shop  removed-canary-1: all rings are done
             prod       c1: the environment proved it
                            failures: 0 of 7 reconcilers failed, at most 0 may fail

Expectations
      05:00  ok      store-[1-6] lacks c1
      06:08  ok      store-[1-6] has c1 by 8h
      06:09  ok      everything rests
