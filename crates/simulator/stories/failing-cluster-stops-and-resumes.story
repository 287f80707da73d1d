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
      02:00             repair canary-2
      02:03  prod shop  c1: the failures are within the budget again
             prod shop  c1: the ring `canary` is done
                            failures: 0 of 2 reconcilers failed, at most 0 may fail
                            compliant: 2 of 2 reconcilers applied the change
             prod shop  c1: the ring `stores` begins
             prod shop  c1: 6 of 6 changed places of the ring `stores` have the revision, or get it now
             prod shop  c1: waits for failures: 6 places are not published yet
      02:04  prod shop  c1: waits for compliant: 0 of 6 reconcilers applied the change, 100% are needed
      02:09  prod shop  c1: the ring `stores` is done
                            failures: 0 of 8 reconcilers failed, at most 0 may fail
                            compliant: 6 of 6 reconcilers applied the change
             prod shop  c1: all rings are done
             prod       c1: the failures are resolved
             prod       c1: the environment proved it
                            failures: 0 of 8 reconcilers failed, at most 0 may fail

Expectations
      01:00  ok      prod stopped because 1 of 2 reconcilers failed
      01:00  ok      store-[1-6] lacks c1
      02:09  ok      prod has c1 by 4h
      02:10  ok      everything rests
