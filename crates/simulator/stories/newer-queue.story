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
      00:30             change c2
      00:50             change c3
      01:08  prod shop  c1: the ring `canary` is done
                            failures: 0 of 2 reconcilers failed, at most 0 may fail
                            compliant: 2 of 2 reconcilers applied the change
                            pause: good since 2026-03-02T08:08:00Z; 1h end at 2026-03-02T09:08:00Z
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
             prod       c2: it is the newest revision that can move
             prod       c2: the gates hold
             prod       c2: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop  c2: the move begins with the ring `canary`
             prod shop  c2: the ring `canary` begins
             prod shop  c2: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             prod shop  c2: waits for failures: 2 places are not published yet
      01:15  prod shop  c2: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      01:18  prod shop  c2: waits for pause: good since 2026-03-02T09:18:00Z; 1h end at 2026-03-02T10:18:00Z
      02:18  prod shop  c2: the ring `canary` is done
                            failures: 0 of 2 reconcilers failed, at most 0 may fail
                            compliant: 2 of 2 reconcilers applied the change
                            pause: good since 2026-03-02T09:18:00Z; 1h end at 2026-03-02T10:18:00Z
             prod shop  c2: the ring `stores` begins
             prod shop  c2: 6 of 6 changed places of the ring `stores` have the revision, or get it now
             prod shop  c2: waits for failures: 6 places are not published yet
      02:19  prod shop  c2: waits for compliant: 0 of 6 reconcilers applied the change, 100% are needed
      02:24  prod shop  c2: the ring `stores` is done
                            failures: 0 of 8 reconcilers failed, at most 0 may fail
                            compliant: 6 of 6 reconcilers applied the change
             prod shop  c2: all rings are done
             prod       c2: the environment proved it
                            failures: 0 of 8 reconcilers failed, at most 0 may fail
             prod       c3: it is the newest revision that can move
             prod       c3: the gates hold
             prod       c3: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop  c3: the move begins with the ring `canary`
             prod shop  c3: the ring `canary` begins
             prod shop  c3: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             prod shop  c3: waits for failures: 2 places are not published yet
      02:25  prod shop  c3: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      02:28  prod shop  c3: waits for pause: good since 2026-03-02T10:28:00Z; 1h end at 2026-03-02T11:28:00Z
      03:28  prod shop  c3: the ring `canary` is done
                            failures: 0 of 2 reconcilers failed, at most 0 may fail
                            compliant: 2 of 2 reconcilers applied the change
                            pause: good since 2026-03-02T10:28:00Z; 1h end at 2026-03-02T11:28:00Z
             prod shop  c3: the ring `stores` begins
             prod shop  c3: 6 of 6 changed places of the ring `stores` have the revision, or get it now
             prod shop  c3: waits for failures: 6 places are not published yet
      03:29  prod shop  c3: waits for compliant: 0 of 6 reconcilers applied the change, 100% are needed
      03:34  prod shop  c3: the ring `stores` is done
                            failures: 0 of 8 reconcilers failed, at most 0 may fail
                            compliant: 6 of 6 reconcilers applied the change
             prod shop  c3: all rings are done
             prod       c3: the environment proved it
                            failures: 0 of 8 reconcilers failed, at most 0 may fail

Expectations
      01:14  ok      prod has c1 by 4h
      02:24  ok      prod has c2 by 6h
      03:34  ok      prod has c3 by 8h
