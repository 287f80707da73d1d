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
      00:40         clock is wrong by -1h for 3h
      03:08  prod   c1: the gates hold
                        settled: `stage` has the revision
                        healthy: 3 of 3 reconcilers applied the change
                        two-hours: good since 2026-03-02T08:08:00Z; 2h end at 2026-03-02T10:08:00Z
             prod   c1: waits for compliant: the state of the fleet is not known: its output is not published yet
      03:13  prod   c1: the environment proved it
                        compliant: 4 of 4 reconcilers applied the change
                        failures: 0 of 4 reconcilers failed, at most 0 may fail

Expectations
      01:30  ok      prod lacks c1
      03:13  ok      prod has c1 by 6h
