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
      00:30             revert c1
             prod       c1: `revert-c1` replaces it
             prod       revert-c1: it returns the environment to its proved revision
             prod       revert-c1: the gates hold
                            settled: `prod` proved `start`, which has the same content, on 2026-03-02T08:00:00Z
             prod       revert-c1: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop  c1: the sources have a proved revision again
      00:33  prod shop  c1: all places have the proved revision again
             prod       revert-c1: the environment proved it
                            failures: 0 of 8 reconcilers failed, at most 0 may fail

Expectations
      03:00  ok      store-[1-6] never has c1
      03:00  ok      prod lacks c1 at 3h
      03:00  ok      everything rests
