      00:00             fail canary-2 on c1
      00:10             change c1
      00:11  prod       c1: it is the newest revision that can move
             prod       c1: the gates hold
             prod       c1: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop  c1: the move begins with the ring `canary`
             prod shop  c1: the ring `canary` begins
             prod shop  c1: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             prod shop  c1: waits for failures: 2 places are not published yet
      00:12  prod shop  c1: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      00:18  prod shop  c1: ring `canary`: 1 of 2 reconcilers failed, at most 0 may fail
             prod shop  c1: waits for failures: 1 of 2 reconcilers failed, at most 0 may fail
             prod       c1: the rollout of shop: ring `canary`: 1 of 2 reconcilers failed, at most 0 may fail
      01:00             change c2 where region=east
      01:01  prod       c1: `c2` replaces it
             prod       c2: it is the newest revision that can move
             prod       c2: the gates hold
             prod       c2: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop  c1: `c2` replaces it
             prod shop  c2: the move begins with the ring `canary`
             prod shop  c2: the ring `canary` begins
             prod shop  c2: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             prod shop  c2: waits for failures: 2 places are not published yet
             prod shop  c2: ring `canary`: 1 of 2 reconcilers failed, at most 0 may fail
             prod shop  c2: waits for failures: 1 of 2 reconcilers failed, at most 0 may fail
             prod       c2: the rollout of shop: ring `canary`: 1 of 2 reconcilers failed, at most 0 may fail
      04:00             repair canary-2
      04:03  prod shop  c2: the failures are within the budget again
             prod shop  c2: waits for pause: good since 2026-03-02T12:03:00Z; 1h end at 2026-03-02T13:03:00Z
      05:03  prod shop  c2: the ring `canary` is done
                            failures: 0 of 2 reconcilers failed, at most 0 may fail
                            compliant: 2 of 2 reconcilers applied the change
                            pause: good since 2026-03-02T12:03:00Z; 1h end at 2026-03-02T13:03:00Z
             prod shop  c2: the ring `stores` begins
             prod shop  c2: 4 of 4 changed places of the ring `stores` have the revision, or get it now
             prod shop  c2: waits for failures: 4 places are not published yet
      05:04  prod shop  c2: waits for compliant: 0 of 4 reconcilers applied the change, 100% are needed
      05:09  prod shop  c2: the ring `stores` is done
                            failures: 0 of 6 reconcilers failed, at most 0 may fail
                            compliant: 4 of 4 reconcilers applied the change
             prod shop  c2: all rings are done
             prod       c2: the failures are resolved
             prod       c2: the environment proved it
                            failures: 0 of 6 reconcilers failed, at most 0 may fail

Expectations
      03:00  ok      prod stopped because 1 of 2 reconcilers failed
      03:00  ok      store-[1-4] lacks c1
      03:00  ok      store-[1-4] lacks c2
      05:09  ok      prod has c1 by 7h
      05:09  ok      prod has c2 by 7h
