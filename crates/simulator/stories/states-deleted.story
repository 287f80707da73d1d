      01:00             change c1
      01:02  prod       c1: it is the newest revision that can move
             prod       c1: waits for healthy: 0 of 3 reconcilers applied the change, 100% are needed
      01:08  prod       c1: waits for people: 0 of 1 approval of the team `sre`
      03:00             approve prod by ana
             prod       c1: approve for the gate `people` by ana
             prod       c1: the gates hold
                            settled: `stage` has the revision
                            healthy: 3 of 3 reconcilers applied the change
                            people: 1 of 1 approval of the team `sre` (ana)
             prod       c1: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop  c1: the move begins with the ring `first`
             prod shop  c1: the ring `first` begins
             prod shop  c1: 2 of 2 changed places of the ring `first` have the revision, or get it now
             prod shop  c1: waits for failures: 2 places are not published yet
      03:01  prod shop  c1: waits for present: 0 of 2 reconcilers applied the change, 100% are needed
      03:03  prod shop  c1: the ring `first` is done
                            failures: 0 of 2 reconcilers failed, at most 0 may fail
                            present: 2 of 2 reconcilers applied the change
             prod shop  c1: the ring `rest` begins
             prod shop  c1: 2 of 2 changed places of the ring `rest` have the revision, or get it now
             prod shop  c1: waits for failures: 2 places are not published yet
      03:04  prod shop  c1: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      03:08  prod shop  c1: the ring `rest` is done
                            failures: 0 of 4 reconcilers failed, at most 0 may fail
                            compliant: 2 of 2 reconcilers applied the change
             prod shop  c1: all rings are done
             prod       c1: the environment proved it
                            failures: 0 of 4 reconcilers failed, at most 0 may fail
      04:00             fail prod-1
                        change c2
      04:02  prod       c2: it is the newest revision that can move
             prod       c2: waits for healthy: 0 of 3 reconcilers applied the change, 100% are needed
      04:08  prod       c2: waits for people: 0 of 1 approval of the team `sre`
      06:00             approve prod by ana
             prod       c2: approve for the gate `people` by ana
             prod       c2: the gates hold
                            settled: `stage` has the revision
                            healthy: 3 of 3 reconcilers applied the change
                            people: 1 of 1 approval of the team `sre` (ana)
             prod       c2: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop  c2: the move begins with the ring `first`
             prod shop  c2: the ring `first` begins
             prod shop  c2: 2 of 2 changed places of the ring `first` have the revision, or get it now
             prod shop  c2: waits for failures: 2 places are not published yet
      06:01  prod shop  c2: waits for present: 0 of 2 reconcilers applied the change, 100% are needed
      06:03  prod shop  c2: ring `first`: 1 of 2 reconcilers failed, at most 0 may fail
             prod shop  c2: waits for failures: 1 of 2 reconcilers failed, at most 0 may fail
             prod       c2: the rollout of shop: ring `first`: 1 of 2 reconcilers failed, at most 0 may fail
      08:00             delete states of prod
                        repair prod-1
                        change c3
      09:00             approve prod by ana
             prod       a decision by ana is refused: its stored states are gone: a person restores them
      10:00             configure prod k1
      20:00             restore states of prod
      20:01  prod shop  c2: the ring `first` is done
                            failures: 0 of 2 reconcilers failed, at most 0 may fail
                            present: 2 of 2 reconcilers applied the change
             prod shop  c2: the ring `rest` begins
             prod shop  c2: 2 of 2 changed places of the ring `rest` have the revision, or get it now
             prod shop  c2: waits for failures: 2 places are not published yet
             prod shop  k1: it moves before `c2`, which continues after it
             prod shop  k1: the ring `first` begins
             prod shop  k1: 2 of 2 changed places of the ring `first` have the revision, or get it now
             prod shop  k1: waits for failures: 2 places are not published yet
      20:02  prod shop  k1: waits for present: 0 of 2 reconcilers applied the change, 100% are needed
      20:08  prod shop  k1: the ring `first` is done
                            failures: 0 of 2 reconcilers failed, at most 0 may fail
                            present: 2 of 2 reconcilers applied the change
             prod shop  k1: the ring `rest` begins
             prod shop  k1: 2 of 2 changed places of the ring `rest` have the revision, or get it now
             prod shop  k1: waits for failures: 2 places are not published yet
      20:09  prod shop  k1: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      20:13  prod shop  k1: the ring `rest` is done
                            failures: 0 of 4 reconcilers failed, at most 0 may fail
                            compliant: 2 of 2 reconcilers applied the change
             prod shop  k1: all rings are done
             prod shop  k1: the move continues after the newest values
             prod shop  k1: waits for failures: 2 places are not published yet
             prod shop  k1: the ring `rest` is done
                            failures: 0 of 4 reconcilers failed, at most 0 may fail
                            compliant: 2 of 2 reconcilers applied the change
             prod shop  k1: all rings are done
             prod       c2: the environment proved it
                            failures: 0 of 4 reconcilers failed, at most 0 may fail
             prod       c3: it is the newest revision that can move
             prod       c3: waits for people: 0 of 1 approval of the team `sre`

Expectations
      09:00  ok      prod stopped because its stored states are gone
      21:00  ok      prod waits for 0 of 1 approval
      04:00  ok      prod has c1 at 4h
      20:00  ok      all of prod where ring=first has c2 at 20h
      20:00  ok      all of prod where ring=rest lacks c2 at 20h
      20:13  ok      prod has c2 by 22h
      20:00  ok      prod lacks k1 at 20h
      20:13  ok      prod has k1 by 24h
   4d 00:00  ok      prod never has c3
