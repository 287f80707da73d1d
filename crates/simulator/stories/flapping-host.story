      00:00             flap canary-2 every 20m
      00:10             change c1
      00:11  prod       c1: it is the newest revision that can move
             prod       c1: the gates hold
             prod shop  c1: the move begins with the ring `canary`
             prod shop  c1: the ring `canary` begins
             prod shop  c1: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             prod shop  c1: waits for failures: 2 places are not published yet
      00:12  prod shop  c1: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      00:18  prod shop  c1: waits for pause: good since 2026-03-02T08:18:00Z; 1h end at 2026-03-02T09:18:00Z
      00:23  prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed
      00:38  prod       c1: 1 of 8 reconcilers failed, at most 0 may fail
      00:58  prod       c1: the failures are gone
             prod shop  c1: waits for pause: good since 2026-03-02T08:58:00Z; 1h end at 2026-03-02T09:58:00Z
      01:18  prod       c1: 1 of 8 reconcilers failed, at most 0 may fail
             prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed, 1 failed
      01:38  prod       c1: the failures are gone
             prod shop  c1: waits for pause: good since 2026-03-02T09:38:00Z; 1h end at 2026-03-02T10:38:00Z
      01:58  prod       c1: 1 of 8 reconcilers failed, at most 0 may fail
             prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed, 1 failed
      02:18  prod       c1: the failures are gone
             prod shop  c1: waits for pause: good since 2026-03-02T10:18:00Z; 1h end at 2026-03-02T11:18:00Z
      02:38  prod       c1: 1 of 8 reconcilers failed, at most 0 may fail
             prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed, 1 failed
      02:58  prod       c1: the failures are gone
             prod shop  c1: waits for pause: good since 2026-03-02T10:58:00Z; 1h end at 2026-03-02T11:58:00Z
      03:18  prod       c1: 1 of 8 reconcilers failed, at most 0 may fail
             prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed, 1 failed
      03:38  prod       c1: the failures are gone
             prod shop  c1: waits for pause: good since 2026-03-02T11:38:00Z; 1h end at 2026-03-02T12:38:00Z
      03:58  prod       c1: 1 of 8 reconcilers failed, at most 0 may fail
             prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed, 1 failed
      04:18  prod       c1: the failures are gone
             prod shop  c1: waits for pause: good since 2026-03-02T12:18:00Z; 1h end at 2026-03-02T13:18:00Z
      04:38  prod       c1: 1 of 8 reconcilers failed, at most 0 may fail
             prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed, 1 failed
      04:58  prod       c1: the failures are gone
             prod shop  c1: waits for pause: good since 2026-03-02T12:58:00Z; 1h end at 2026-03-02T13:58:00Z
      05:18  prod       c1: 1 of 8 reconcilers failed, at most 0 may fail
             prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed, 1 failed
      05:38  prod       c1: the failures are gone
             prod shop  c1: waits for pause: good since 2026-03-02T13:38:00Z; 1h end at 2026-03-02T14:38:00Z
      05:58  prod       c1: 1 of 8 reconcilers failed, at most 0 may fail
             prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed, 1 failed
      06:18  prod       c1: the failures are gone
             prod shop  c1: waits for pause: good since 2026-03-02T14:18:00Z; 1h end at 2026-03-02T15:18:00Z
      06:38  prod       c1: 1 of 8 reconcilers failed, at most 0 may fail
             prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed, 1 failed
      06:58  prod       c1: the failures are gone
             prod shop  c1: waits for pause: good since 2026-03-02T14:58:00Z; 1h end at 2026-03-02T15:58:00Z
      07:18  prod       c1: 1 of 8 reconcilers failed, at most 0 may fail
             prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed, 1 failed
      07:38  prod       c1: the failures are gone
             prod shop  c1: waits for pause: good since 2026-03-02T15:38:00Z; 1h end at 2026-03-02T16:38:00Z
      07:58  prod       c1: 1 of 8 reconcilers failed, at most 0 may fail
             prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed, 1 failed
      08:18  prod       c1: the failures are gone
             prod shop  c1: waits for pause: good since 2026-03-02T16:18:00Z; 1h end at 2026-03-02T17:18:00Z
      08:38  prod       c1: 1 of 8 reconcilers failed, at most 0 may fail
             prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed, 1 failed
      08:58  prod       c1: the failures are gone
             prod shop  c1: waits for pause: good since 2026-03-02T16:58:00Z; 1h end at 2026-03-02T17:58:00Z
      09:18  prod       c1: 1 of 8 reconcilers failed, at most 0 may fail
             prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed, 1 failed
      09:38  prod       c1: the failures are gone
             prod shop  c1: waits for pause: good since 2026-03-02T17:38:00Z; 1h end at 2026-03-02T18:38:00Z
      09:58  prod       c1: 1 of 8 reconcilers failed, at most 0 may fail
             prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed, 1 failed
      10:18  prod       c1: the failures are gone
             prod shop  c1: waits for pause: good since 2026-03-02T18:18:00Z; 1h end at 2026-03-02T19:18:00Z
      10:38  prod       c1: 1 of 8 reconcilers failed, at most 0 may fail
             prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed, 1 failed
      10:58  prod       c1: the failures are gone
             prod shop  c1: waits for pause: good since 2026-03-02T18:58:00Z; 1h end at 2026-03-02T19:58:00Z
      11:18  prod       c1: 1 of 8 reconcilers failed, at most 0 may fail
             prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed, 1 failed
      11:38  prod       c1: the failures are gone
             prod shop  c1: waits for pause: good since 2026-03-02T19:38:00Z; 1h end at 2026-03-02T20:38:00Z
      11:58  prod       c1: 1 of 8 reconcilers failed, at most 0 may fail
             prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed, 1 failed
      12:18  prod       c1: the failures are gone
             prod shop  c1: waits for pause: good since 2026-03-02T20:18:00Z; 1h end at 2026-03-02T21:18:00Z
      12:38  prod       c1: 1 of 8 reconcilers failed, at most 0 may fail
             prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed, 1 failed
      12:58  prod       c1: the failures are gone
             prod shop  c1: waits for pause: good since 2026-03-02T20:58:00Z; 1h end at 2026-03-02T21:58:00Z
      13:00             repair canary-2
      13:58  prod shop  c1: the ring `canary` is done
                            failures: 0 of 2 reconcilers failed, at most 1 may fail
                            compliant: 2 of 2 reconcilers applied the change
                            pause: good since 2026-03-02T20:58:00Z; 1h end at 2026-03-02T21:58:00Z
             prod shop  c1: the ring `stores` begins
             prod shop  c1: 6 of 6 changed places of the ring `stores` have the revision, or get it now
             prod shop  c1: waits for failures: 6 places are not published yet
      13:59  prod shop  c1: waits for compliant: 0 of 6 reconcilers applied the change, 100% are needed
      14:04  prod shop  c1: the ring `stores` is done
                            failures: 0 of 8 reconcilers failed, at most 0 may fail
                            compliant: 6 of 6 reconcilers applied the change
             prod shop  c1: all rings are done
      14:05  prod       c1: the environment proved it
                            failures: 0 of 8 reconcilers failed, at most 0 may fail

Expectations
      12:00  ok      store-[1-6] lacks c1
      14:04  ok      prod has c1 by 16h
