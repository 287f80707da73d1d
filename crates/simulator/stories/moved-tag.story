      01:00                     release shop 2.0.0@a1b2
      01:02  prod shop release  2.0.0@a1b2: it is the newest revision that can move
             prod shop release  2.0.0@a1b2: waits for healthy: 0 of 3 reconcilers applied the change, 100% are needed
      01:08  prod shop release  2.0.0@a1b2: the gates hold
                                    settled: `stage` has the revision
                                    healthy: 3 of 3 reconcilers applied the change
             prod shop release  2.0.0@a1b2: waits for compliant: the state of the fleet is not known: its output is not published yet
      01:13  prod shop release  2.0.0@a1b2: the environment proved it
                                    compliant: 4 of 4 reconcilers applied the change
                                    failures: 0 of 4 reconcilers failed, at most 0 may fail
      04:00                     fail stage-2 on 2.0.0@c3d4
                                release shop 2.0.0@c3d4
      04:02  prod shop release  2.0.0@c3d4: it is the newest revision that can move
             prod shop release  2.0.0@c3d4: waits for healthy: 0 of 3 reconcilers applied the change, 100% are needed
      06:00                     write shop 2.0.0@c3d4 into prod by hand
             prod shop release  2.0.0@c3d4: a person wrote it into the branch of the environment; it waits for its gates
      08:00                     repair stage-2
      08:03  prod shop release  2.0.0@c3d4: the gates hold
                                    settled: `stage` has the revision
                                    healthy: 3 of 3 reconcilers applied the change
             prod shop release  2.0.0@c3d4: waits for compliant: the state of the fleet is not known: its output is not published yet
      08:08  prod shop release  2.0.0@c3d4: the environment proved it
                                    compliant: 4 of 4 reconcilers applied the change
                                    failures: 0 of 4 reconcilers failed, at most 0 may fail

Expectations
      04:00  ok      prod has shop 2.0.0@a1b2 at 4h
      08:03  ok      stage has shop 2.0.0@c3d4 by 9h
      08:00  ok      prod has shop 2.0.0@a1b2 at 8h
      08:09  ok      prod has shop 2.0.0@c3d4
