      00:00         change c1
      00:02  stage  c1: it is the newest revision that can move
             stage  c1: waits for healthy: 0 of 1 reconciler applied the change, 100% are needed
      00:08  stage  c1: the gates hold
                        settled: `dev` has the revision
                        healthy: 1 of 1 reconciler applied the change
             stage  c1: a pull request waits for its merge
      00:18  stage  c1: the pull request is merged
             stage  c1: waits for compliant: the state of the fleet is not known: its output is not published yet
      00:19  prod   c1: it is the newest revision that can move
             prod   c1: waits for healthy: 0 of 3 reconcilers applied the change, 98% are needed
      00:23  prod   c1: waits for an-hour: good since 2026-03-02T08:23:00Z; 1h end at 2026-03-02T09:23:00Z
             stage  c1: the environment proved it
                        compliant: 3 of 3 reconcilers applied the change
                        failures: 0 of 3 reconcilers failed, at most 0 may fail
      01:23  prod   c1: the gates hold
                        settled: `stage` has the revision
                        healthy: 3 of 3 reconcilers applied the change
                        an-hour: good since 2026-03-02T08:23:00Z; 1h end at 2026-03-02T09:23:00Z
             prod   c1: a pull request waits for its merge
      01:33  prod   c1: the pull request is merged
             prod   c1: waits for compliant: the state of the fleet is not known: its output is not published yet
      01:38  prod   c1: the environment proved it
                        compliant: 4 of 4 reconcilers applied the change
                        failures: 0 of 4 reconcilers failed, at most 0 may fail

Expectations
      00:20  ok      prod lacks c1
      01:38  ok      prod has c1 by 4h
      01:39  ok      everything rests
