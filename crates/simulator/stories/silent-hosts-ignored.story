      00:00             silence canary-1
      01:00             change c1
      01:01  prod       c1: it is the newest revision that can move
             prod       c1: the gates hold
             prod       c1: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop  c1: the move begins with the ring `canary`
             prod shop  c1: the ring `canary` begins
             prod shop  c1: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             prod shop  c1: waits for failures: 2 places are not published yet
      01:02  prod shop  c1: waits for present: 0 of 1 reconciler applied the change, 100% are needed, 1 are silent
      01:08  prod shop  c1: the ring `canary` is done
                            failures: 0 of 2 reconcilers failed, at most 0 may fail
                            present: 1 of 1 reconciler applied the change
             prod shop  c1: the ring `stores` begins
             prod shop  c1: 6 of 6 changed places of the ring `stores` have the revision, or get it now
             prod shop  c1: waits for failures: 6 places are not published yet
      01:09  prod shop  c1: waits for compliant: 0 of 6 reconcilers applied the change, 100% are needed
      01:14  prod shop  c1: the ring `stores` is done
                            failures: 0 of 8 reconcilers failed, at most 0 may fail
                            compliant: 6 of 6 reconcilers applied the change
             prod shop  c1: all rings are done
             prod       c1: the environment proved it
                            failures: 0 of 8 reconcilers failed, at most 0 may fail
   1d 00:00             repair canary-1

Expectations
      01:14  ok      store-[1-6] has c1 by 3h
   1d 00:03  ok      canary-1 has c1 by 1d1h
