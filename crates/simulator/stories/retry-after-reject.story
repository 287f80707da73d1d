      00:00             change c1
      00:01  prod       c1: it is the newest revision that can move
             prod       c1: the gates hold
             prod       c1: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop  c1: the move begins with the ring `canary`
             prod shop  c1: the ring `canary` begins
             prod shop  c1: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             prod shop  c1: waits for failures: 2 places are not published yet
      00:02  prod shop  c1: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      00:08  prod shop  c1: waits for pause: good since 2026-03-02T08:08:00Z; 6h end at 2026-03-02T14:08:00Z
      00:30             abort prod shop by ana because customers complain
             prod shop  c1: abort by ana: customers complain
             prod       c1: the rollout of shop: abort by ana: customers complain
      05:00             retry prod shop by ben
             prod shop  c1: retry by ben
      05:01  prod shop  c1: the move begins with the ring `canary`
             prod shop  c1: the ring `canary` begins
             prod shop  c1: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             prod shop  c1: waits for failures: 2 places are not published yet
             prod shop  c1: waits for pause: good since 2026-03-02T13:01:00Z; 6h end at 2026-03-02T19:01:00Z
      11:01  prod shop  c1: the ring `canary` is done
                            failures: 0 of 2 reconcilers failed, at most 0 may fail
                            compliant: 2 of 2 reconcilers applied the change
                            pause: good since 2026-03-02T13:01:00Z; 6h end at 2026-03-02T19:01:00Z
             prod shop  c1: the ring `stores` begins
             prod shop  c1: 6 of 6 changed places of the ring `stores` have the revision, or get it now
             prod shop  c1: waits for failures: 6 places are not published yet
      11:02  prod shop  c1: waits for compliant: 0 of 6 reconcilers applied the change, 100% are needed
      11:08  prod shop  c1: the ring `stores` is done
                            failures: 0 of 8 reconcilers failed, at most 0 may fail
                            compliant: 6 of 6 reconcilers applied the change
             prod shop  c1: all rings are done
             prod       c1: the failures are resolved
             prod       c1: the environment proved it
                            failures: 0 of 8 reconcilers failed, at most 0 may fail

Expectations
      04:00  ok      store-1 lacks c1 at 4h
      11:08  ok      prod has c1 by 13h
