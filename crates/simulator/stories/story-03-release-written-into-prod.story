      00:00                     write shop 2.4.0 into prod by hand
      00:01  prod shop release  2.4.0: a person wrote it into the branch of the environment; it waits for its gates
             prod shop release  2.4.0: waits for settled: `stage` has `1.0.0`, which does not contain the revision
      02:00                     release shop 2.4.0
      02:01  prod shop release  2.4.0: waits for healthy: 0 of 3 reconcilers applied the change, 100% are needed
      02:03  prod shop release  2.4.0: waits for a-night: good since 2026-03-02T10:03:00Z; 12h end at 2026-03-02T22:03:00Z
      14:03  prod shop release  2.4.0: the gates hold
                                    settled: `stage` has the revision
                                    healthy: 3 of 3 reconcilers applied the change
                                    a-night: good since 2026-03-02T10:03:00Z; 12h end at 2026-03-02T22:03:00Z
             prod shop release  2.4.0: waits for failures: the state of the fleet is not known: its output is not published yet
             prod shop          2.4.0: the move begins with the ring `canary`
             prod shop          2.4.0: the ring `canary` begins
             prod shop          2.4.0: 2 of 2 changed places of the ring `canary` have the revision, or get it now
             prod shop          2.4.0: waits for failures: 2 places are not published yet
      14:04  prod shop          2.4.0: waits for compliant: 0 of 2 reconcilers applied the change, 100% are needed
      14:08  prod shop          2.4.0: the ring `canary` is done
                                    failures: 0 of 2 reconcilers failed, at most 0 may fail
                                    compliant: 2 of 2 reconcilers applied the change
             prod shop          2.4.0: the ring `stores` begins
             prod shop          2.4.0: 4 of 4 changed places of the ring `stores` have the revision, or get it now
             prod shop          2.4.0: waits for failures: 4 places are not published yet
      14:09  prod shop          2.4.0: waits for compliant: 0 of 4 reconcilers applied the change, 100% are needed
      14:14  prod shop          2.4.0: the ring `stores` is done
                                    failures: 0 of 6 reconcilers failed, at most 0 may fail
                                    compliant: 4 of 4 reconcilers applied the change
             prod shop          2.4.0: all rings are done
             prod shop release  2.4.0: the environment proved it
                                    failures: 0 of 6 reconcilers failed, at most 0 may fail

Expectations
      01:00  ok      prod waits for stage
      02:00  ok      prod lacks shop 2.4.0 at 2h
      02:03  ok      stage has shop 2.4.0 by 3h
      14:00  ok      prod lacks shop 2.4.0 at 14h
      14:14  ok      prod has shop 2.4.0 by 16h
      14:15  ok      everything rests
