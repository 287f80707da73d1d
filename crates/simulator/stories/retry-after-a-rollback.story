      00:00             fail canary-1 on c1 for 4h
      01:00             change c1
      01:01  prod       c1: it is the newest revision that can move
             prod       c1: the gates hold
             prod       c1: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop  c1: the move begins with the ring `canary`
             prod shop  c1: the ring `canary` begins
             prod shop  c1: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             prod shop  c1: waits for failures: 2 places are not published yet
      01:02  prod shop  c1: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      01:08  prod shop  c1: ring `canary`: 1 of 2 reconcilers failed, at most 0 may fail
             prod       c1: the rollout of shop: ring `canary`: 1 of 2 reconcilers failed, at most 0 may fail
      01:13  prod shop  c1: all places have the proved revision again
             prod       c1: the environment has the proved revision again
      05:00             retry prod by ana
             prod       c1: retry by ana
             prod shop  c1: retry by ana
      05:01  prod       c1: requested by ana
             prod       c1: the gates hold
             prod       c1: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop  c1: the move begins with the ring `canary`
             prod shop  c1: the ring `canary` begins
             prod shop  c1: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             prod shop  c1: waits for failures: 2 places are not published yet
      05:02  prod shop  c1: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      05:08  prod shop  c1: the ring `canary` is done
                            failures: 0 of 2 reconcilers failed, at most 0 may fail
                            compliant: 2 of 2 reconcilers applied the change
             prod shop  c1: the ring `stores` begins
             prod shop  c1: 6 of 6 changed places of the ring `stores` have the revision, or get it now
             prod shop  c1: waits for failures: 6 places are not published yet
      05:09  prod shop  c1: waits for compliant: 0 of 6 reconcilers applied the change, 100% are needed
      05:14  prod shop  c1: the ring `stores` is done
                            failures: 0 of 8 reconcilers failed, at most 0 may fail
                            compliant: 6 of 6 reconcilers applied the change
             prod shop  c1: all rings are done
             prod       c1: the environment proved it
                            failures: 0 of 8 reconcilers failed, at most 0 may fail

Expectations
      04:00  ok      prod lacks c1
      05:14  ok      prod has c1 by 8h
      05:15  ok      everything rests
