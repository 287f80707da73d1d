      00:00         silence stage-3
      01:00         change c1
      01:02  stage  c1: it is the newest revision that can move
             stage  c1: the gates hold
                        settled: `dev` has the revision
             stage  c1: waits for compliant: the state of the fleet is not known: its output is not published yet
      01:03  prod   c1: it is the newest revision that can move
             prod   c1: waits for present: 0 of 3 reconcilers applied the change, 100% are needed, 1 are silent
      01:08  stage  c1: the environment proved it
                        compliant: 2 of 2 reconcilers applied the change
                        failures: 0 of 3 reconcilers failed, at most 0 may fail
      06:00         repair stage-3
      06:02  prod   c1: waits for present: 2 of 3 reconcilers applied the change, 100% are needed
      06:03  prod   c1: the gates hold
                        settled: `stage` has the revision
                        present: 3 of 3 reconcilers applied the change
             prod   c1: waits for compliant: the state of the fleet is not known: its output is not published yet
      06:08  prod   c1: the environment proved it
                        compliant: 4 of 4 reconcilers applied the change
                        failures: 0 of 4 reconcilers failed, at most 0 may fail

Expectations
      05:00  ok      prod waits for present
      05:00  ok      prod lacks c1
      06:08  ok      prod has c1 by 7h
