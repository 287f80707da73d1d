      00:00                     release shop 2.4.0
      00:02  prod shop release  2.4.0: it is the newest revision that can move
             prod shop release  2.4.0: waits for healthy: 0 of 2 reconcilers applied the change, 100% are needed
      00:08  prod shop release  2.4.0: waits for two-hours: good since 2026-03-02T08:08:00Z; 2h end at 2026-03-02T10:08:00Z
      02:08  prod shop release  2.4.0: the gates hold
                                    settled: `stage` has the revision
                                    healthy: 2 of 2 reconcilers applied the change
                                    two-hours: good since 2026-03-02T08:08:00Z; 2h end at 2026-03-02T10:08:00Z
             prod shop release  2.4.0: waits for compliant: the state of the fleet is not known: its output is not published yet
      02:13  prod shop release  2.4.0: the environment proved it
                                    compliant: 3 of 3 reconcilers applied the change
                                    failures: 0 of 3 reconcilers failed, at most 0 may fail
      10:00                     release shop 2.5.0
      10:02  prod shop release  2.5.0: it is the newest revision that can move
             prod shop release  2.5.0: waits for healthy: 0 of 2 reconcilers applied the change, 100% are needed
      10:08  prod shop release  2.5.0: waits for two-hours: good since 2026-03-02T18:08:00Z; 2h end at 2026-03-02T20:08:00Z
      12:08  prod shop release  2.5.0: the gates hold
                                    settled: `stage` has the revision
                                    healthy: 2 of 2 reconcilers applied the change
                                    two-hours: good since 2026-03-02T18:08:00Z; 2h end at 2026-03-02T20:08:00Z
             prod shop release  2.5.0: waits for compliant: the state of the fleet is not known: its output is not published yet
      12:13  prod shop release  2.5.0: the environment proved it
                                    compliant: 3 of 3 reconcilers applied the change
                                    failures: 0 of 3 reconcilers failed, at most 0 may fail

Expectations
      01:00  ok      prod lacks shop 2.4.0
      02:13  ok      prod has shop 2.4.0 by 4h
      12:13  ok      prod has shop 2.5.0 by 14h
