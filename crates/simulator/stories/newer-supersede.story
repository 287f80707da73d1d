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
             prod       c1: `c2` replaces it
             prod       c2: it is the newest revision that can move
             prod       c2: the gates hold
             prod       c2: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop  c1: `c2` replaces it
             prod shop  c2: the move begins with the ring `canary`
             prod shop  c2: the ring `canary` begins
             prod shop  c2: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             prod shop  c2: waits for failures: 2 places are not published yet
      00:31  prod shop  c2: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      00:33  prod shop  c2: waits for pause: good since 2026-03-02T08:33:00Z; 1h end at 2026-03-02T09:33:00Z
      00:50             change c3
             prod       c2: `c3` replaces it
             prod       c3: it is the newest revision that can move
             prod       c3: the gates hold
             prod       c3: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop  c2: `c3` replaces it
             prod shop  c3: the move begins with the ring `canary`
             prod shop  c3: the ring `canary` begins
             prod shop  c3: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             prod shop  c3: waits for failures: 2 places are not published yet
      00:51  prod shop  c3: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      00:53  prod shop  c3: waits for pause: good since 2026-03-02T08:53:00Z; 1h end at 2026-03-02T09:53:00Z
      01:53  prod shop  c3: the ring `canary` is done
                            failures: 0 of 2 reconcilers failed, at most 0 may fail
                            compliant: 2 of 2 reconcilers applied the change
                            pause: good since 2026-03-02T08:53:00Z; 1h end at 2026-03-02T09:53:00Z
             prod shop  c3: the ring `stores` begins
             prod shop  c3: 6 of 6 changed places of the ring `stores` have the revision, or get it now
             prod shop  c3: waits for failures: 6 places are not published yet
      01:54  prod shop  c3: waits for compliant: 0 of 6 reconcilers applied the change, 100% are needed
      01:59  prod shop  c3: the ring `stores` is done
                            failures: 0 of 8 reconcilers failed, at most 0 may fail
                            compliant: 6 of 6 reconcilers applied the change
             prod shop  c3: all rings are done
             prod       c3: the environment proved it
                            failures: 0 of 8 reconcilers failed, at most 0 may fail

Expectations
      01:30  ok      canary-[1-2] has c3
      01:30  ok      store-[1-6] lacks c1
      01:59  ok      prod has c3 by 4h
