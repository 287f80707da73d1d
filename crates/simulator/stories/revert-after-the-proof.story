      00:00            change c1
      00:01  dev       c1: it is the newest revision that can move
             dev       c1: the gates hold
             dev       c1: waits for failures: the state of the fleet is not known: its output is not published yet
             dev shop  c1: the move begins with the ring `canary`
             dev shop  c1: the ring `canary` begins
             dev shop  c1: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             dev shop  c1: waits for failures: 2 places are not published yet
      00:02  dev shop  c1: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      00:08  dev shop  c1: waits for pause: good since 2026-03-02T08:08:00Z; 1h end at 2026-03-02T09:08:00Z
      01:08  dev shop  c1: the ring `canary` is done
                           failures: 0 of 2 reconcilers failed, at most 0 may fail
                           compliant: 2 of 2 reconcilers applied the change
                           pause: good since 2026-03-02T08:08:00Z; 1h end at 2026-03-02T09:08:00Z
             dev shop  c1: the ring `rest` begins
             dev shop  c1: 3 of 3 changed places of the ring `rest` have the revision, or get it now
             dev shop  c1: waits for failures: 3 places are not published yet
      01:09  dev shop  c1: waits for compliant: 0 of 3 reconcilers applied the change, 100% are needed
      01:13  dev shop  c1: the ring `rest` is done
                           failures: 0 of 5 reconcilers failed, at most 0 may fail
                           compliant: 3 of 3 reconcilers applied the change
             dev shop  c1: all rings are done
             dev       c1: the environment proved it
                           failures: 0 of 5 reconcilers failed, at most 0 may fail
      03:00            revert c1
      03:01  dev       revert-c1: it returns the environment to its proved revision
             dev       revert-c1: the gates hold
                           settled: `dev` proved `start`, which has the same content, on 2026-03-02T08:00:00Z
             dev       revert-c1: waits for failures: the state of the fleet is not known: its output is not published yet
             dev shop  c1: the sources have a proved revision again
      03:08  dev shop  c1: all places have the proved revision again
             dev       revert-c1: the environment proved it
                           failures: 0 of 5 reconcilers failed, at most 0 may fail

Expectations
      01:13  ok      dev has c1 by 2h
      04:00  ok      dev lacks c1 at 4h
      04:00  ok      everything rests
