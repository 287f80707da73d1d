      00:00         change c1
      00:02  stage  c1: it is the newest revision that can move
             stage  c1: the gates hold
                        settled: `dev` has the revision
             stage  c1: waits for compliant: the state of the fleet is not known: its output is not published yet
      00:03  prod   c1: it is the newest revision that can move
             prod   c1: waits for go: a person must let the change through
      00:08  stage  c1: the environment proved it
                        compliant: 3 of 3 reconcilers applied the change
                        failures: 0 of 3 reconcilers failed, at most 0 may fail
      06:00         skip prod gate go by ana because the campaign has begun
             prod   c1: skip of the gate `go` by ana: the campaign has begun
             prod   c1: the gates hold
                        settled: `stage` has the revision
                        go: skipped by ana: the campaign has begun
             prod   c1: waits for compliant: the state of the fleet is not known: its output is not published yet
      06:03  prod   c1: the environment proved it
                        compliant: 4 of 4 reconcilers applied the change
                        failures: 0 of 4 reconcilers failed, at most 0 may fail

Expectations
      05:00  ok      prod lacks c1
      06:03  ok      prod has c1 by 7h
