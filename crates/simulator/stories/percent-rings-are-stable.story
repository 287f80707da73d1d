      00:00             change c1
      00:01  prod       c1: it is the newest revision that can move
             prod       c1: the gates hold
             prod       c1: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop  c1: the move begins with the ring `few`
             prod shop  c1: the ring `few` begins
             prod shop  c1: 4 of 4 changed places of the ring `few` have the revision, or get it now
             prod shop  c1: waits for failures: 4 places are not published yet
      00:02  prod shop  c1: waits for compliant: 0 of 4 reconcilers applied the change, 100% are needed
      00:07  prod shop  c1: waits for pause: good since 2026-03-02T08:07:00Z; 2h end at 2026-03-02T10:07:00Z
      02:07  prod shop  c1: the ring `few` is done
                            failures: 0 of 4 reconcilers failed, at most 0 may fail
                            compliant: 4 of 4 reconcilers applied the change
                            pause: good since 2026-03-02T08:07:00Z; 2h end at 2026-03-02T10:07:00Z
             prod shop  c1: the ring `others` begins
             prod shop  c1: 16 of 16 changed places of the ring `others` have the revision, or get it now
             prod shop  c1: waits for failures: 16 places are not published yet
      02:08  prod shop  c1: waits for compliant: 0 of 16 reconcilers applied the change, 100% are needed
      02:14  prod shop  c1: the ring `others` is done
                            failures: 0 of 20 reconcilers failed, at most 0 may fail
                            compliant: 16 of 16 reconcilers applied the change
             prod shop  c1: all rings are done
             prod       c1: the environment proved it
                            failures: 0 of 20 reconcilers failed, at most 0 may fail
      10:00             add store-[21-30] to prod
      10:01  prod shop  added-store-21: the move begins with the ring `few`
             prod shop  added-store-21: the ring `few` begins
             prod shop  added-store-21: 1 of 1 changed place of the ring `few` have the revision, or get it now
             prod shop  added-store-21: waits for failures: 1 place is not published yet
      10:02  prod shop  added-store-21: the ring `few` is done
             prod shop  added-store-21: the ring `others` begins
             prod shop  added-store-21: 9 of 9 changed places of the ring `others` have the revision, or get it now
             prod shop  added-store-21: waits for failures: 9 places are not published yet
      10:03  prod shop  added-store-21: the ring `others` is done
             prod shop  added-store-21: all rings are done
      20:00             change c2
      20:01  prod       c2: it is the newest revision that can move
             prod       c2: the gates hold
             prod       c2: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop  c2: the move begins with the ring `few`
             prod shop  c2: the ring `few` begins
             prod shop  c2: 5 of 5 changed places of the ring `few` have the revision, or get it now
             prod shop  c2: waits for failures: 5 places are not published yet
      20:02  prod shop  c2: waits for compliant: 0 of 5 reconcilers applied the change, 100% are needed
      20:07  prod shop  c2: waits for pause: good since 2026-03-03T04:07:00Z; 2h end at 2026-03-03T06:07:00Z
      22:07  prod shop  c2: the ring `few` is done
                            failures: 0 of 5 reconcilers failed, at most 0 may fail
                            compliant: 5 of 5 reconcilers applied the change
                            pause: good since 2026-03-03T04:07:00Z; 2h end at 2026-03-03T06:07:00Z
             prod shop  c2: the ring `others` begins
             prod shop  c2: 25 of 25 changed places of the ring `others` have the revision, or get it now
             prod shop  c2: waits for failures: 25 places are not published yet
      22:08  prod shop  c2: waits for compliant: 0 of 25 reconcilers applied the change, 100% are needed
      22:14  prod shop  c2: the ring `others` is done
                            failures: 0 of 30 reconcilers failed, at most 0 may fail
                            compliant: 25 of 25 reconcilers applied the change
             prod shop  c2: all rings are done
             prod       c2: the environment proved it
                            failures: 0 of 30 reconcilers failed, at most 0 may fail

Expectations
      00:30  ok      store-04 has c1
      00:30  ok      store-01 lacks c1
      20:30  ok      store-04 has c2
      20:30  ok      store-01 lacks c2
      22:14  ok      prod has c2 by 2d
