      00:00             change c1
      00:01  prod       c1: it is the newest revision that can move
             prod       c1: the gates hold
             prod       c1: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop  c1: the move begins with the ring `canary`
             prod shop  c1: the ring `canary` begins
             prod shop  c1: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             prod shop  c1: waits for failures: 2 places are not published yet
      00:02  prod shop  c1: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      00:08  prod shop  c1: the ring `canary` is done
                            failures: 0 of 2 reconcilers failed, at most 0 may fail
                            compliant: 2 of 2 reconcilers applied the change
             prod shop  c1: the ring `stores` begins
             prod shop  c1: 3 of 6 changed places of the ring `stores` have the revision, or get it now
             prod shop  c1: waits for failures: 3 places are not published yet
      00:09  prod shop  c1: waits for compliant: 3 places are not published yet
      00:13  prod shop  c1: 5 of 6 changed places of the ring `stores` have the revision, or get it now
             prod shop  c1: waits for failures: 2 places are not published yet
      00:14  prod shop  c1: 6 of 6 changed places of the ring `stores` have the revision, or get it now
      00:15  prod shop  c1: waits for compliant: 3 of 6 reconcilers applied the change, 100% are needed
      00:18  prod shop  c1: the ring `stores` is done
                            failures: 0 of 8 reconcilers failed, at most 0 may fail
                            compliant: 6 of 6 reconcilers applied the change
             prod shop  c1: all rings are done
             prod       c1: the environment proved it
                            failures: 0 of 8 reconcilers failed, at most 0 may fail

Expectations
      00:19  ok      at most 2 of prod where region=west change at once
      00:19  ok      at most 2 of prod where region=east change at once
      00:19  ok      at most 1 of prod where rack=a change at once
      00:19  ok      at most 1 of prod where rack=b change at once
      00:19  ok      at most 1 of prod where rack=c change at once
      00:18  ok      prod has c1 by 3h
