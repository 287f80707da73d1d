      00:00                     change c1
      00:02  prod               c1: it is the newest revision that can move
             prod               c1: waits for healthy: 0 of 2 reconcilers applied the change, 100% are needed
      00:08  prod               c1: the gates hold
                                    settled: `stage` has the revision
                                    healthy: 2 of 2 reconcilers applied the change
             prod               c1: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop          c1: the move begins with the ring `canary`
             prod shop          c1: the ring `canary` begins
             prod shop          c1: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             prod shop          c1: waits for failures: 2 places are not published yet
      00:09  prod shop          c1: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      00:13  prod shop          c1: waits for pause: good since 2026-03-02T08:13:00Z; 1h end at 2026-03-02T09:13:00Z
      00:30                     hold prod by ana because inventory days
             prod               c1: hold by ana: inventory days
      01:00                     release shop 2.4.0
   1d 01:00                     resume prod by ana
             prod               c1: resume by ana
             prod shop          c1: the ring `canary` is done
                                    failures: 0 of 2 reconcilers failed, at most 0 may fail
                                    compliant: 2 of 2 reconcilers applied the change
                                    pause: good since 2026-03-02T08:13:00Z; 1h end at 2026-03-02T09:13:00Z
             prod shop          c1: the ring `stores` begins
             prod shop          c1: 4 of 4 changed places of the ring `stores` have the revision, or get it now
             prod shop          c1: waits for failures: 4 places are not published yet
             prod shop release  2.4.0: it is the newest revision that can move
             prod shop release  2.4.0: the gates hold
                                    settled: `stage` has the revision
                                    healthy: 2 of 2 reconcilers applied the change
             prod shop release  2.4.0: waits for failures: the state of the fleet is not known: its output is not published yet
   1d 01:01  prod shop          c1: waits for compliant: 0 of 4 reconcilers applied the change, 100% are needed
   1d 01:06  prod shop          c1: the ring `stores` is done
                                    failures: 0 of 6 reconcilers failed, at most 0 may fail
                                    compliant: 4 of 4 reconcilers applied the change
             prod shop          c1: all rings are done
             prod shop          2.4.0: the move begins with the ring `canary`
             prod shop          2.4.0: the ring `canary` begins
             prod shop          2.4.0: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             prod shop          2.4.0: waits for failures: 2 places are not published yet
   1d 01:07  prod shop          2.4.0: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
   1d 01:13  prod shop          2.4.0: waits for pause: good since 2026-03-03T09:13:00Z; 1h end at 2026-03-03T10:13:00Z
   1d 02:13  prod shop          2.4.0: the ring `canary` is done
                                    failures: 0 of 2 reconcilers failed, at most 0 may fail
                                    compliant: 2 of 2 reconcilers applied the change
                                    pause: good since 2026-03-03T09:13:00Z; 1h end at 2026-03-03T10:13:00Z
             prod shop          2.4.0: the ring `stores` begins
             prod shop          2.4.0: 4 of 4 changed places of the ring `stores` have the revision, or get it now
             prod shop          2.4.0: waits for failures: 4 places are not published yet
   1d 02:14  prod shop          2.4.0: waits for compliant: 0 of 4 reconcilers applied the change, 100% are needed
   1d 02:19  prod shop          2.4.0: the ring `stores` is done
                                    failures: 0 of 6 reconcilers failed, at most 0 may fail
                                    compliant: 4 of 4 reconcilers applied the change
             prod shop          2.4.0: all rings are done
             prod               c1: the environment proved it
                                    failures: 0 of 6 reconcilers failed, at most 0 may fail
             prod shop release  2.4.0: the environment proved it
                                    failures: 0 of 6 reconcilers failed, at most 0 may fail

Expectations
   1d 00:00  ok      prod is held
   1d 00:00  ok      store-[1-4] lacks c1
   1d 00:00  ok      prod lacks shop 2.4.0
   1d 01:06  ok      prod has c1 by 1d6h
   1d 02:19  ok      prod has shop 2.4.0 by 1d12h
