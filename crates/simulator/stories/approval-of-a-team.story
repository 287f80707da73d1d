      00:00         change c1
      00:02  stage  c1: it is the newest revision that can move
             stage  c1: the gates hold
                        settled: `dev` has the revision
             stage  c1: waits for compliant: the state of the fleet is not known: its output is not published yet
      00:03  prod   c1: it is the newest revision that can move
             prod   c1: waits for managers: 0 of 1 approval of the team `release-managers`
      00:08  stage  c1: the environment proved it
                        compliant: 3 of 3 reconcilers applied the change
                        failures: 0 of 3 reconcilers failed, at most 0 may fail
      01:00         approve prod by carl
             prod   approve by carl is refused: the approval does not count at the gate `managers`: carl is not in the team `release-managers`
      03:00         approve prod by ana
             prod   c1: approve for the gate `managers` by ana
             prod   c1: the gates hold
                        settled: `stage` has the revision
                        managers: 1 of 1 approval of the team `release-managers` (ana)
             prod   c1: waits for compliant: the state of the fleet is not known: its output is not published yet
      03:03  prod   c1: the environment proved it
                        compliant: 4 of 4 reconcilers applied the change
                        failures: 0 of 4 reconcilers failed, at most 0 may fail

Expectations
      02:00  ok      prod lacks c1
      03:03  ok      prod has c1 by 4h
