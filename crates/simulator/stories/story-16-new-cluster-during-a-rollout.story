      00:00             change c1
      00:01  prod       c1: it is the newest revision that can move
             prod       c1: the gates hold
             prod       c1: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop  c1: the move begins with the ring `canary`
             prod shop  c1: the ring `canary` begins
             prod shop  c1: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             prod shop  c1: waits for failures: 2 places are not published yet
      00:02  prod shop  c1: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      00:08  prod shop  c1: waits for pause: good since 2026-03-02T08:08:00Z; 1h end at 2026-03-02T09:08:00Z
      00:30             add store-[7-8] to prod
             prod shop  added-store-7: it moves before `c1`, which continues after it
             prod shop  added-store-7: nothing changes in the ring `canary`
             prod shop  added-store-7: the ring `stores` begins
             prod shop  added-store-7: 2 of 2 changed places of the ring `stores` have the revision, or get it now
             prod shop  added-store-7: waits for failures: 2 places are not published yet
      00:31  prod shop  added-store-7: the ring `stores` is done
             prod shop  added-store-7: all rings are done
             prod shop  added-store-7: the move continues after the newest values
             prod shop  added-store-7: waits for pause: good since 2026-03-02T08:08:00Z; 1h end at 2026-03-02T09:08:00Z
      01:08  prod shop  added-store-7: the ring `canary` is done
                            failures: 0 of 2 reconcilers failed, at most 0 may fail
                            compliant: 2 of 2 reconcilers applied the change
                            pause: good since 2026-03-02T08:08:00Z; 1h end at 2026-03-02T09:08:00Z
             prod shop  added-store-7: the ring `stores` begins
             prod shop  added-store-7: 8 of 8 changed places of the ring `stores` have the revision, or get it now
             prod shop  added-store-7: waits for failures: 8 places are not published yet
      01:09  prod shop  added-store-7: waits for compliant: 0 of 8 reconcilers applied the change, 100% are needed
      01:14  prod shop  added-store-7: the ring `stores` is done
                            failures: 0 of 10 reconcilers failed, at most 0 may fail
                            compliant: 8 of 8 reconcilers applied the change
             prod shop  added-store-7: all rings are done
             prod       c1: the environment proved it
                            failures: 0 of 10 reconcilers failed, at most 0 may fail

Expectations
      01:13  ok      store-[7-8] has c1 by 6h
      01:14  ok      prod has c1 by 6h
      01:15  ok      everything rests
