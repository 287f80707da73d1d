      00:00         change c1
      00:02  stage  c1: it is the newest revision that can move
             stage  c1: the gates hold
                        settled: `dev` has the revision
             stage  c1: waits for compliant: the state of the fleet is not known: its output is not published yet
      00:03  prod   c1: it is the newest revision that can move
             prod   c1: waits for healthy: 0 of 3 reconcilers applied the change, 100% are needed
      00:08  prod   c1: waits for an-hour: good since 2026-03-02T08:08:00Z; 1h end at 2026-03-02T09:08:00Z
             stage  c1: the environment proved it
                        compliant: 3 of 3 reconcilers applied the change
                        failures: 0 of 3 reconcilers failed, at most 0 may fail
      00:30         hub is down for 6h
             prod   c1: waits for healthy: the state of the fleet is not known: the hub can't be reached
      06:30  prod   c1: waits for an-hour: good since 2026-03-02T14:30:00Z; 1h end at 2026-03-02T15:30:00Z
      07:30  prod   c1: the gates hold
                        settled: `stage` has the revision
                        healthy: 3 of 3 reconcilers applied the change
                        an-hour: good since 2026-03-02T14:30:00Z; 1h end at 2026-03-02T15:30:00Z
             prod   c1: waits for compliant: the state of the fleet is not known: its output is not published yet
      07:33  prod   c1: the environment proved it
                        compliant: 4 of 4 reconcilers applied the change
                        failures: 0 of 4 reconcilers failed, at most 0 may fail

Expectations
      05:00  ok      prod lacks c1
      05:00  ok      prod waits for not known
      07:33  ok      prod has c1 by 9h
