      00:00             flap canary-2 every 20m
      00:10             change c1
      00:11  prod       c1: it is the newest revision that can move
             prod       c1: the gates hold
             prod       c1: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop  c1: the move begins with the ring `canary`
             prod shop  c1: the ring `canary` begins
             prod shop  c1: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             prod shop  c1: waits for failures: 2 places are not published yet
      00:12  prod shop  c1: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      00:45  prod shop  c1: waits for pause: good since 2026-03-02T08:45:00Z; 1h end at 2026-03-02T09:45:00Z
      01:06  prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed, 1 failed
      01:27  prod shop  c1: waits for pause: good since 2026-03-02T09:27:00Z; 1h end at 2026-03-02T10:27:00Z
      01:48  prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed, 1 failed
      02:09  prod shop  c1: waits for pause: good since 2026-03-02T10:09:00Z; 1h end at 2026-03-02T11:09:00Z
      02:30  prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed, 1 failed
      02:51  prod shop  c1: waits for pause: good since 2026-03-02T10:51:00Z; 1h end at 2026-03-02T11:51:00Z
      03:12  prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed, 1 failed
      03:33  prod shop  c1: waits for pause: good since 2026-03-02T11:33:00Z; 1h end at 2026-03-02T12:33:00Z
      03:54  prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed, 1 failed
      04:15  prod shop  c1: waits for pause: good since 2026-03-02T12:15:00Z; 1h end at 2026-03-02T13:15:00Z
      04:36  prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed, 1 failed
      04:57  prod shop  c1: waits for pause: good since 2026-03-02T12:57:00Z; 1h end at 2026-03-02T13:57:00Z
      05:18  prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed, 1 failed
      05:39  prod shop  c1: waits for pause: good since 2026-03-02T13:39:00Z; 1h end at 2026-03-02T14:39:00Z
      06:00  prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed, 1 failed
      06:42  prod shop  c1: waits for pause: good since 2026-03-02T14:42:00Z; 1h end at 2026-03-02T15:42:00Z
      07:03  prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed, 1 failed
      07:24  prod shop  c1: waits for pause: good since 2026-03-02T15:24:00Z; 1h end at 2026-03-02T16:24:00Z
      07:45  prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed, 1 failed
      08:06  prod shop  c1: waits for pause: good since 2026-03-02T16:06:00Z; 1h end at 2026-03-02T17:06:00Z
      08:27  prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed, 1 failed
      08:48  prod shop  c1: waits for pause: good since 2026-03-02T16:48:00Z; 1h end at 2026-03-02T17:48:00Z
      09:09  prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed, 1 failed
      09:30  prod shop  c1: waits for pause: good since 2026-03-02T17:30:00Z; 1h end at 2026-03-02T18:30:00Z
      09:51  prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed, 1 failed
      10:12  prod shop  c1: waits for pause: good since 2026-03-02T18:12:00Z; 1h end at 2026-03-02T19:12:00Z
      10:33  prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed, 1 failed
      10:54  prod shop  c1: waits for pause: good since 2026-03-02T18:54:00Z; 1h end at 2026-03-02T19:54:00Z
      11:15  prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed, 1 failed
      11:36  prod shop  c1: waits for pause: good since 2026-03-02T19:36:00Z; 1h end at 2026-03-02T20:36:00Z
      11:57  prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed, 1 failed
      12:18  prod shop  c1: waits for pause: good since 2026-03-02T20:18:00Z; 1h end at 2026-03-02T21:18:00Z
      12:39  prod shop  c1: waits for compliant: 1 of 2 reconcilers applied the change, 100% are needed, 1 failed
      13:00             repair canary-2
             prod shop  c1: waits for pause: good since 2026-03-02T21:00:00Z; 1h end at 2026-03-02T22:00:00Z
      14:00  prod shop  c1: the ring `canary` is done
                            failures: 0 of 2 reconcilers failed, at most 1 may fail
                            compliant: 2 of 2 reconcilers applied the change
                            pause: good since 2026-03-02T21:00:00Z; 1h end at 2026-03-02T22:00:00Z
             prod shop  c1: the ring `stores` begins
             prod shop  c1: 6 of 6 changed places of the ring `stores` have the revision, or get it now
             prod shop  c1: waits for failures: 6 places are not published yet
      14:01  prod shop  c1: waits for compliant: 0 of 6 reconcilers applied the change, 100% are needed
      14:06  prod shop  c1: the ring `stores` is done
                            failures: 0 of 8 reconcilers failed, at most 0 may fail
                            compliant: 6 of 6 reconcilers applied the change
             prod shop  c1: all rings are done
             prod       c1: the environment proved it
                            failures: 0 of 8 reconcilers failed, at most 0 may fail

Expectations
      12:00  ok      store-[1-6] lacks c1
      14:06  ok      prod has c1 by 16h
