      00:00             change c1
      00:01  stage      c1: it is the newest revision that can move
             stage      c1: the gates hold
             stage      c1: waits for compliant: the state of the fleet is not known: its output is not published yet
      00:02  prod       c1: it is the newest revision that can move
             prod       c1: waits for healthy: 0 of 2 reconcilers applied the change, 100% are needed
      00:08  prod       c1: the gates hold
                            settled: `stage` has the revision
                            healthy: 2 of 2 reconcilers applied the change
             prod       c1: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop  c1: the move begins with the ring `canary`
             prod shop  c1: the ring `canary` begins
             prod shop  c1: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             prod shop  c1: waits for failures: 2 places are not published yet
             stage      c1: the environment proved it
                            compliant: 2 of 2 reconcilers applied the change
                            failures: 0 of 2 reconcilers failed, at most 0 may fail
      00:09  prod shop  c1: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      00:13  prod shop  c1: waits for pause: good since 2026-03-02T08:13:00Z; 12h end at 2026-03-02T20:13:00Z
      12:13  prod shop  c1: the ring `canary` is done
                            failures: 0 of 2 reconcilers failed, at most 0 may fail
                            compliant: 2 of 2 reconcilers applied the change
                            pause: good since 2026-03-02T08:13:00Z; 12h end at 2026-03-02T20:13:00Z
             prod shop  c1: the ring `stores` begins
             prod shop  c1: 6 of 6 changed places of the ring `stores` have the revision, or get it now
             prod shop  c1: waits for failures: 6 places are not published yet
      12:14  prod shop  c1: waits for compliant: 0 of 6 reconcilers applied the change, 100% are needed
      12:19  prod shop  c1: the ring `stores` is done
                            failures: 0 of 8 reconcilers failed, at most 0 may fail
                            compliant: 6 of 6 reconcilers applied the change
             prod shop  c1: all rings are done
             prod       c1: the environment proved it
                            failures: 0 of 8 reconcilers failed, at most 0 may fail
      20:00             change c2
      20:01  stage      c2: it is the newest revision that can move
             stage      c2: the gates hold
             stage      c2: waits for compliant: the state of the fleet is not known: its output is not published yet
      20:02  prod       c2: it is the newest revision that can move
             prod       c2: waits for healthy: 0 of 2 reconcilers applied the change, 100% are needed
      20:08  prod       c2: the gates hold
                            settled: `stage` has the revision
                            healthy: 2 of 2 reconcilers applied the change
             prod       c2: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop  c2: the move begins with the ring `canary`
             prod shop  c2: the ring `canary` begins
             prod shop  c2: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             prod shop  c2: waits for failures: 2 places are not published yet
             stage      c2: the environment proved it
                            compliant: 2 of 2 reconcilers applied the change
                            failures: 0 of 2 reconcilers failed, at most 0 may fail
      20:09  prod shop  c2: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      20:13  prod shop  c2: waits for pause: good since 2026-03-03T04:13:00Z; 12h end at 2026-03-03T16:13:00Z
      22:00             revert c2
             prod       c2: `revert-c2` replaces it
             prod       revert-c2: it returns the environment to its proved revision
             prod       revert-c2: the gates hold
                            settled: `prod` proved `c1`, which has the same content, on 2026-03-02T20:19:00Z
             prod       revert-c2: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop  c2: the sources have a proved revision again
             stage      revert-c2: it returns the environment to its proved revision
             stage      revert-c2: the gates hold
                            settled: `stage` proved `c1`, which has the same content, on 2026-03-02T08:08:00Z
             stage      revert-c2: waits for compliant: the state of the fleet is not known: its output is not published yet
      22:03  prod shop  c2: all places have the proved revision again
             prod       revert-c2: the environment proved it
                            failures: 0 of 8 reconcilers failed, at most 0 may fail
             stage      revert-c2: the environment proved it
                            compliant: 2 of 2 reconcilers applied the change
                            failures: 0 of 2 reconcilers failed, at most 0 may fail

Expectations
      12:19  ok      prod has c1 by 16h
      22:04  ok      store-1 lacks c2
      22:04  ok      everything rests
