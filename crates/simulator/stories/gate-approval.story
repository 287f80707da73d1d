      00:00         change c1 by dora
      00:02  stage  c1: it is the newest revision that can move
             stage  c1: the gates hold
                        settled: `dev` has the revision
             stage  c1: waits for compliant: the state of the fleet is not known: its output is not published yet
      00:03  prod   c1: it is the newest revision that can move
             prod   c1: waits for approval: 0 of 2 approvals
      00:08  stage  c1: the environment proved it
                        compliant: 3 of 3 reconcilers applied the change
                        failures: 0 of 3 reconcilers failed, at most 0 may fail
      01:00         approve prod by dora
             prod   approve by dora is refused: the approval does not count at the gate `approval`: dora is an author of the change
      01:10         approve prod by ana
             prod   c1: approve for the gate `approval` by ana
      03:00         approve prod by ben
             prod   c1: approve for the gate `approval` by ben
             prod   c1: the gates hold
                        settled: `stage` has the revision
                        approval: 2 of 2 approvals (ana, ben)
             prod   c1: waits for compliant: the state of the fleet is not known: its output is not published yet
      03:03  prod   c1: the environment proved it
                        compliant: 4 of 4 reconcilers applied the change
                        failures: 0 of 4 reconcilers failed, at most 0 may fail

Expectations
      02:00  ok      prod lacks c1
      02:00  ok      prod waits for approval
      03:03  ok      prod has c1 by 4h
