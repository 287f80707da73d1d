      00:00             change c1
      00:01  prod       c1: it is the newest revision that can move
             prod       c1: the gates hold
             prod shop  c1: the move begins with the ring `canary`
             prod shop  c1: the ring `canary` begins
             prod shop  c1: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             prod shop  c1: waits for failures: 2 places are not published yet
      00:02  prod shop  c1: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      00:08  prod shop  c1: waits for pause: good since 2026-03-02T08:08:00Z; 1h end at 2026-03-02T09:08:00Z
      00:30             revert c1
             prod       c1: `revert-c1` replaces it
             prod       revert-c1: it is the newest revision that can move
             prod       revert-c1: the gates hold
             prod shop  c1: `start` replaces it
             prod shop  start: the move begins with the ring `canary`
             prod shop  start: the ring `canary` begins
             prod shop  start: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             prod shop  start: waits for failures: 2 places are not published yet
      00:31  prod shop  start: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      00:33  prod shop  start: waits for pause: good since 2026-03-02T08:33:00Z; 1h end at 2026-03-02T09:33:00Z
      01:33  prod shop  start: the ring `canary` is done
                            failures: 0 of 2 reconcilers failed, at most 0 may fail
                            compliant: 2 of 2 reconcilers applied the change
                            pause: good since 2026-03-02T08:33:00Z; 1h end at 2026-03-02T09:33:00Z
             prod shop  start: nothing changes in the ring `stores`
             prod shop  start: all rings are done
      01:34  prod       revert-c1: the environment proved it
                            failures: 0 of 8 reconcilers failed, at most 0 may fail

Expectations
      03:00  ok      store-[1-6] never has c1
      03:00  ok      prod lacks c1 at 3h
      03:00  ok      everything rests
