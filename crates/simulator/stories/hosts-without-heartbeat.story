      01:00         change c1
      01:02  stage  c1: it is the newest revision that can move
             stage  c1: the gates hold
                        settled: `dev` has the revision
             stage  c1: waits for compliant: the state of the fleet is not known: its output is not published yet
      01:03  prod   c1: it is the newest revision that can move
             prod   c1: waits for alive: 0 of 3 reconcilers applied the change, 100% are needed
      01:08  stage  c1: the environment proved it
                        compliant: 3 of 3 reconcilers applied the change
                        failures: 0 of 3 reconcilers failed, at most 0 may fail
   2d 00:00         skip prod gate alive by ann because the hosts report by hand
             prod   c1: skip of the gate `alive` by ann: the hosts report by hand
             prod   c1: the gates hold
                        settled: `stage` has the revision
                        alive: skipped by ann: the hosts report by hand
             prod   c1: waits for compliant: the state of the fleet is not known: its output is not published yet
   2d 00:03  prod   c1: the environment proved it
                        compliant: 4 of 4 reconcilers applied the change
                        failures: 0 of 4 reconcilers failed, at most 0 may fail

Expectations
   1d 00:00  ok      prod waits for alive
   1d 00:00  ok      prod lacks c1
   2d 00:03  ok      prod has c1 by 2d1h
