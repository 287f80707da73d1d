      01:00         change c1
      01:02  stage  c1: it is the newest revision that can move
             stage  c1: the gates hold
                        settled: `dev` has the revision
             stage  c1: waits for compliant: the state of the fleet is not known: its output is not published yet
      01:03  prod   c1: it is the newest revision that can move
             prod   c1: waits for alive: 0 of 3 reconcilers applied the change, 100% are needed
      01:08  prod   c1: waits for soaked: good since 2026-03-02T09:08:00Z; 12h end at 2026-03-02T21:08:00Z
             stage  c1: the environment proved it
                        compliant: 3 of 3 reconcilers applied the change
                        failures: 0 of 3 reconcilers failed, at most 0 may fail
      02:00         silence stage-3
      02:30  prod   c1: waits for alive: 2 of 3 reconcilers applied the change, 100% are needed, 1 are silent
      20:00         repair stage-3
      20:02  prod   c1: waits for soaked: good since 2026-03-03T04:02:00Z; 12h end at 2026-03-03T16:02:00Z
   1d 08:02  prod   c1: the gates hold
                        settled: `stage` has the revision
                        alive: 3 of 3 reconcilers applied the change
                        soaked: good since 2026-03-03T04:02:00Z; 12h end at 2026-03-03T16:02:00Z
             prod   c1: waits for compliant: the state of the fleet is not known: its output is not published yet
   1d 08:08  prod   c1: the environment proved it
                        compliant: 4 of 4 reconcilers applied the change
                        failures: 0 of 4 reconcilers failed, at most 0 may fail

Expectations
      14:00  ok      prod waits for alive
      14:00  ok      prod lacks c1
   1d 07:00  ok      prod waits for soaked
   1d 07:00  ok      prod lacks c1
   1d 08:08  ok      prod has c1 by 33h
