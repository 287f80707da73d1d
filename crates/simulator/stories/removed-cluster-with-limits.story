      00:00             remove canary-1
      00:01  prod shop  removed-canary-1: the move begins with the ring `canary`
             prod shop  removed-canary-1: nothing changes in the ring `canary`
             prod shop  removed-canary-1: the ring `stores` begins
             prod shop  removed-canary-1: 1 of 1 changed place of the ring `stores` have the revision, or get it now
             prod shop  removed-canary-1: waits for failures: 1 place is not published yet
      00:02  prod shop  removed-canary-1: nothing changes in the ring `stores`
             prod shop  removed-canary-1: all rings are done
      08:00             change c1
      08:01  prod       c1: it is the newest revision that can move
             prod       c1: the gates hold
             prod       c1: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop  c1: the move begins with the ring `canary`
             prod shop  c1: the ring `canary` begins
             prod shop  c1: 1 of 1 changed place of the ring `canary` have the revision, or get it now
             prod shop  c1: waits for failures: 1 place is not published yet
      08:02  prod shop  c1: waits for compliant: 0 of 1 reconciler applied the change, 100% are needed
      08:08  prod shop  c1: waits for pause: good since 2026-03-02T16:08:00Z; 20m end at 2026-03-02T16:28:00Z
      08:28  prod shop  c1: the ring `canary` is done
                            failures: 0 of 1 reconciler failed, at most 0 may fail
                            compliant: 1 of 1 reconciler applied the change
                            pause: good since 2026-03-02T16:08:00Z; 20m end at 2026-03-02T16:28:00Z
             prod shop  c1: the ring `stores` begins
             prod shop  c1: 2 of 6 changed places of the ring `stores` have the revision, or get it now
             prod shop  c1: waits for failures: 2 places are not published yet
      08:29  prod shop  c1: waits for compliant: 4 places are not published yet
      08:33  prod shop  c1: 3 of 6 changed places of the ring `stores` have the revision, or get it now
             prod shop  c1: waits for failures: 1 place is not published yet
      08:34  prod shop  c1: 4 of 6 changed places of the ring `stores` have the revision, or get it now
      08:35  prod shop  c1: waits for compliant: 2 places are not published yet
      08:36  prod shop  c1: 5 of 6 changed places of the ring `stores` have the revision, or get it now
             prod shop  c1: waits for failures: 1 place is not published yet
      08:37  prod shop  c1: waits for compliant: 1 place is not published yet
      08:38  prod shop  c1: 6 of 6 changed places of the ring `stores` have the revision, or get it now
             prod shop  c1: waits for failures: 1 place is not published yet
      08:39  prod shop  c1: waits for compliant: 4 of 6 reconcilers applied the change, 100% are needed
      08:42  prod shop  c1: the ring `stores` is done
                            failures: 0 of 7 reconcilers failed, at most 0 may fail
                            compliant: 6 of 6 reconcilers applied the change
             prod shop  c1: all rings are done
             prod       c1: the environment proved it
                            failures: 0 of 7 reconcilers failed, at most 0 may fail

Expectations
      00:02  ok      prod shop rests by 6h
      08:42  ok      prod has c1 by 24h
      08:43  ok      everything rests
