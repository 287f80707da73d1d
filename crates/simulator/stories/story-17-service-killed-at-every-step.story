      00:00             kill the service at every step
                        fail store-2 on c1
      00:10             change c1
      00:11  prod       c1: it is the newest revision that can move
             prod       c1: the gates hold
             prod       c1: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop  c1: the move begins with the ring `canary`
             prod shop  c1: the ring `canary` begins
             prod shop  c1: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             prod shop  c1: waits for failures: 2 places are not published yet
      00:12  prod shop  c1: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      00:18  prod shop  c1: waits for pause: good since 2026-03-02T08:18:00Z; 1h end at 2026-03-02T09:18:00Z
      01:18  prod shop  c1: the ring `canary` is done
                            failures: 0 of 2 reconcilers failed, at most 0 may fail
                            compliant: 2 of 2 reconcilers applied the change
                            pause: good since 2026-03-02T08:18:00Z; 1h end at 2026-03-02T09:18:00Z
             prod shop  c1: the ring `stores` begins
             prod shop  c1: 6 of 6 changed places of the ring `stores` have the revision, or get it now
             prod shop  c1: waits for failures: 6 places are not published yet
      01:19  prod shop  c1: waits for compliant: 0 of 6 reconcilers applied the change, 100% are needed
      01:22  prod shop  c1: ring `stores`: 1 of 8 reconcilers failed, at most 0 may fail
             prod shop  c1: waits for failures: 1 of 8 reconcilers failed, at most 0 may fail
             prod       c1: the rollout of shop: ring `stores`: 1 of 8 reconcilers failed, at most 0 may fail
      04:00             repair store-2
      04:02  prod shop  c1: the failures are within the budget again
             prod shop  c1: the ring `stores` is done
                            failures: 0 of 8 reconcilers failed, at most 0 may fail
                            compliant: 6 of 6 reconcilers applied the change
             prod shop  c1: all rings are done
             prod       c1: the failures are resolved
             prod       c1: the environment proved it
                            failures: 0 of 8 reconcilers failed, at most 0 may fail

Expectations
      03:00  ok      prod stopped
      04:02  ok      prod has c1 by 6h
      04:03  ok      everything rests
