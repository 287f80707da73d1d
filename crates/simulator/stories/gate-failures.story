      00:00         fail stage-2 on c1
      00:10         change c1
      00:12  stage  c1: it is the newest revision that can move
             stage  c1: the gates hold
                        settled: `dev` has the revision
             stage  c1: waits for compliant: the state of the fleet is not known: its output is not published yet
      00:13  prod   c1: it is the newest revision that can move
             prod   c1: waits for healthy: 0 of 3 reconcilers applied the change, 60% are needed
      00:18  prod   c1: waits for failures: 1 of 3 reconcilers failed, at most 0 may fail
             stage  c1: 1 of 3 reconcilers failed, at most 0 may fail
      00:19  prod   c1: waits for settled: `stage`: its move stopped: 1 of 3 reconcilers failed, at most 0 may fail
      04:00         repair stage-2
      04:03  stage  c1: the failures are resolved
             stage  c1: the environment proved it
                        compliant: 3 of 3 reconcilers applied the change
                        failures: 0 of 3 reconcilers failed, at most 0 may fail
      04:04  prod   c1: the gates hold
                        settled: `stage` has the revision
                        healthy: 3 of 3 reconcilers applied the change
                        failures: 0 of 3 reconcilers failed, at most 0 may fail
             prod   c1: waits for compliant: the state of the fleet is not known: its output is not published yet
      04:08  prod   c1: the environment proved it
                        compliant: 4 of 4 reconcilers applied the change
                        failures: 0 of 4 reconcilers failed, at most 0 may fail

Expectations
      03:00  ok      prod lacks c1
      03:00  ok      prod waits for failures
      04:08  ok      prod has c1 by 5h
