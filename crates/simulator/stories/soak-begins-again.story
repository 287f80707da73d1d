      00:00         change c1
      00:02  stage  c1: it is the newest revision that can move
             stage  c1: the gates hold
                        settled: `dev` has the revision
             stage  c1: waits for compliant: the state of the fleet is not known: its output is not published yet
      00:03  prod   c1: it is the newest revision that can move
             prod   c1: waits for healthy: 0 of 3 reconcilers applied the change, 100% are needed
      00:08  prod   c1: waits for two-hours: good since 2026-03-02T08:08:00Z; 2h end at 2026-03-02T10:08:00Z
             stage  c1: the environment proved it
                        compliant: 3 of 3 reconcilers applied the change
                        failures: 0 of 3 reconcilers failed, at most 0 may fail
      01:30         fail stage-2 for 30m
      01:33  prod   c1: waits for healthy: 2 of 3 reconcilers applied the change, 100% are needed, 1 failed
      02:03  prod   c1: waits for two-hours: good since 2026-03-02T10:03:00Z; 2h end at 2026-03-02T12:03:00Z
      04:03  prod   c1: the gates hold
                        settled: `stage` has the revision
                        healthy: 3 of 3 reconcilers applied the change
                        two-hours: good since 2026-03-02T10:03:00Z; 2h end at 2026-03-02T12:03:00Z
             prod   c1: waits for compliant: the state of the fleet is not known: its output is not published yet
      04:08  prod   c1: the environment proved it
                        compliant: 4 of 4 reconcilers applied the change
                        failures: 0 of 4 reconcilers failed, at most 0 may fail

Expectations
      02:30  ok      prod lacks c1
      03:50  ok      prod lacks c1
      04:08  ok      prod has c1 by 5h
