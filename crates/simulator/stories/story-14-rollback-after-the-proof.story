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
             prod shop  c1: 6 of 6 changed places of the ring `stores` have the revision, or get it now
             prod shop  c1: waits for failures: 6 places are not published yet
      00:09  prod shop  c1: waits for compliant: 0 of 6 reconcilers applied the change, 100% are needed
      00:14  prod shop  c1: the ring `stores` is done
                            failures: 0 of 8 reconcilers failed, at most 0 may fail
                            compliant: 6 of 6 reconcilers applied the change
             prod shop  c1: all rings are done
             prod       c1: the environment proved it
                            failures: 0 of 8 reconcilers failed, at most 0 may fail
      02:00             hold prod shop by ana because the stores close
             prod shop  hold by ana: the stores close
      03:00             rollback prod shop by ana because prices are wrong
             prod shop  c1: rollback to `start` by ana: prices are wrong
      03:08  prod shop  c1: all places have the proved revision again
      04:01             resume prod shop by ana
             prod shop  c1: resume by ana
      05:00             change c2
      05:01  prod       c2: it is the newest revision that can move
             prod       c2: the gates hold
             prod       c2: waits for failures: the state of the fleet is not known: its output is not published yet
             prod       c2: the rollout of shop: rolled back by ana: prices are wrong
      07:00             retry prod shop by ana
             prod shop  c1: retry by ana
      07:01  prod shop  c2: the move begins with the ring `canary`
             prod shop  c2: the ring `canary` begins
             prod shop  c2: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             prod shop  c2: waits for failures: 2 places are not published yet
      07:02  prod shop  c2: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      07:08  prod shop  c2: the ring `canary` is done
                            failures: 0 of 2 reconcilers failed, at most 0 may fail
                            compliant: 2 of 2 reconcilers applied the change
             prod shop  c2: the ring `stores` begins
             prod shop  c2: 6 of 6 changed places of the ring `stores` have the revision, or get it now
             prod shop  c2: waits for failures: 6 places are not published yet
      07:09  prod shop  c2: waits for compliant: 0 of 6 reconcilers applied the change, 100% are needed
      07:14  prod shop  c2: the ring `stores` is done
                            failures: 0 of 8 reconcilers failed, at most 0 may fail
                            compliant: 6 of 6 reconcilers applied the change
             prod shop  c2: all rings are done
             prod       c2: the failures are resolved
             prod       c2: the environment proved it
                            failures: 0 of 8 reconcilers failed, at most 0 may fail

Expectations
      01:00  ok      prod has c1
      04:00  ok      prod lacks c1
      06:00  ok      prod lacks c2
      08:00  ok      prod has c2 at 8h
