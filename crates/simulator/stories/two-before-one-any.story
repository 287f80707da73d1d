      00:00        fail qa-1 on c1
      00:10        change c1
      00:12  prod  c1: it is the newest revision that can move
             prod  c1: waits for stage/healthy: 0 of 2 reconcilers applied the change, 100% are needed
      00:18  prod  c1: the gates hold
                       stage/settled: `stage` has the revision
                       stage/healthy: 2 of 2 reconcilers applied the change
             prod  c1: waits for compliant: the state of the fleet is not known: its output is not published yet
      00:23  prod  c1: the environment proved it
                       compliant: 3 of 3 reconcilers applied the change
                       failures: 0 of 3 reconcilers failed, at most 0 may fail

Expectations
      00:23  ok      prod has c1 by 3h
