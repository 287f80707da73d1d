      00:00         change c1 by unknown
      00:02  stage  c1: it is the newest revision that can move
             stage  c1: the gates hold
                        settled: `dev` has the revision
             stage  c1: waits for compliant: the state of the fleet is not known: its output is not published yet
      00:03  prod   c1: it is the newest revision that can move
             prod   c1: waits for approval: 0 of 2 approvals; one more, because the author of the change is not known
      00:08  stage  c1: the environment proved it
                        compliant: 3 of 3 reconcilers applied the change
                        failures: 0 of 3 reconcilers failed, at most 0 may fail
      01:00         approve prod by ana
             prod   c1: approve for the gate `approval` by ana
      03:00         approve prod by ben
             prod   c1: approve for the gate `approval` by ben
             prod   c1: the gates hold
                        settled: `stage` has the revision
                        approval: 2 of 2 approvals (ana, ben); one more, because the author of the change is not known
             prod   c1: waits for compliant: the state of the fleet is not known: its output is not published yet
      03:03  prod   c1: the environment proved it
                        compliant: 4 of 4 reconcilers applied the change
                        failures: 0 of 4 reconcilers failed, at most 0 may fail

Expectations
      02:00  ok      prod lacks c1
      03:03  ok      prod has c1 by 4h
