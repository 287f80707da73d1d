      01:00             change c1
      01:01  prod       c1: it is the newest revision that can move
             prod       c1: the gates hold
             prod       c1: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop  c1: the move begins with the ring `canary`
             prod shop  c1: the ring `canary` begins
             prod shop  c1: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             prod shop  c1: waits for failures: 2 places are not published yet
      01:02  prod shop  c1: waits for alive: 0 of 2 reconcilers applied the change, 100% are needed
      01:08  prod shop  c1: waits for pause: good since 2026-03-02T09:08:00Z; 4h end at 2026-03-02T13:08:00Z
      02:00             silence canary-1
      02:30  prod shop  c1: ring `canary`: 1 of 2 reconcilers failed (1 are silent), at most 0 may fail
             prod shop  c1: waits for failures: 1 of 2 reconcilers failed (1 are silent), at most 0 may fail
             prod       c1: the rollout of shop: ring `canary`: 1 of 2 reconcilers failed (1 are silent), at most 0 may fail
      09:00             repair canary-1
      09:02  prod shop  c1: the failures are within the budget again
             prod shop  c1: waits for pause: good since 2026-03-02T17:02:00Z; 4h end at 2026-03-02T21:02:00Z
      13:02  prod shop  c1: the ring `canary` is done
                            failures: 0 of 2 reconcilers failed, at most 0 may fail
                            alive: 2 of 2 reconcilers applied the change
                            pause: good since 2026-03-02T17:02:00Z; 4h end at 2026-03-02T21:02:00Z
             prod shop  c1: the ring `stores` begins
             prod shop  c1: 4 of 4 changed places of the ring `stores` have the revision, or get it now
             prod shop  c1: waits for failures: 4 places are not published yet
      13:03  prod shop  c1: waits for compliant: 0 of 4 reconcilers applied the change, 100% are needed
      13:08  prod shop  c1: the ring `stores` is done
                            failures: 0 of 6 reconcilers failed, at most 0 may fail
                            compliant: 4 of 4 reconcilers applied the change
             prod shop  c1: all rings are done
             prod       c1: the failures are resolved
             prod       c1: the environment proved it
                            failures: 0 of 6 reconcilers failed, at most 0 may fail

Expectations
      08:00  ok      prod stopped because silent
      08:00  ok      store-[1-4] lacks c1
      12:00  ok      prod waits for pause
      12:00  ok      store-[1-4] lacks c1
      13:08  ok      prod has c1 by 14h
